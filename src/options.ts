import type { Keyv } from "keyv";
import { systemClock } from "./core/clock.ts";
import { type Config, type ConfigInput, parseConfig } from "./core/config.ts";
import { SwitchboardError } from "./core/errors.ts";
import { quietLogger } from "./core/logger.ts";
import { createOwners, type Owners } from "./core/policy/people.ts";
import type { ChannelAdapter } from "./core/ports/chat.ts";
import type { Events } from "./core/ports/events.ts";
import type { Clock, Logger } from "./core/ports/host.ts";
import type { AgentRunner, NewEntry } from "./core/ports/run.ts";
import { createEvents } from "./core/runs/events.ts";
import { type KeyNames, keyNames, normalizeAgentId } from "./core/session/key.ts";

export interface SwitchboardOptions {
  /** The configured agents by id (`a–z 0–9 _ -`). The first one is the default unless config.agents.list says otherwise. */
  readonly agents: Readonly<Record<string, AgentRunner>>;
  readonly adapters?: readonly ChannelAdapter[];
  /** Who may type owner commands, by channel: Discord and Telegram user ids, WhatsApp phone numbers or LIDs. Empty = nobody. */
  readonly owners?: Readonly<Record<string, readonly (string | number)[]>>;
  readonly config?: ConfigInput;
  /** Folder of the SQLite file and the transcript mirror, made when missing. Default `./.switchboard`. */
  readonly dataDir?: string;
  /** Keeps values elsewhere: any Keyv 5 with throwOnErrors. Index and queue stay in the SQLite file. */
  readonly store?: Keyv;
  /** In front of every key in `store`, so that several boards may share one: letters, digits, `.`, `-`, `_`. Default "bot-switchboard". */
  readonly storePrefix?: string;
  /** pino-like. Default: warnings and errors on stderr. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Rows of another source for the newest tail of a session's history, e.g. of an external harness. */
  readonly externalHistory?: (sessionKey: string) => Promise<readonly NewEntry[]>;
}

/** What every part may know of the options. */
export interface Basics {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly agentIds: readonly string[];
  readonly adapters: readonly ChannelAdapter[];
  readonly names: KeyNames;
  readonly owners: Owners;
  readonly events: Events;
}

/** What the options say, checked. CONFIG_INVALID names every problem at once. */
export function createBasics(options: SwitchboardOptions): Basics {
  const agents = new Map(Object.entries(options.agents));
  const agentIds = [...agents.keys()];
  const problems = [...agentProblems(agentIds), ...adapterProblems(options.adapters ?? [])];
  if (problems.length > 0)
    throw new SwitchboardError("CONFIG_INVALID", problems.join("\n"), { details: { problems } });
  const config = parseConfig(options.config, agentIds);
  const { clock = systemClock, logger = quietLogger } = options;
  return {
    config,
    clock,
    logger,
    agents,
    agentIds,
    adapters: options.adapters ?? [],
    names: keyNames(config, defaultAgent(config, agentIds)),
    owners: createOwners(options.owners ?? {}),
    events: createEvents(logger),
  };
}

function agentProblems(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return ["agents: give at least one."];
  return ids
    .filter((id) => normalizeAgentId(id) !== id)
    .map((id) => `agents: "${id}" is no agent id; use 1–64 of a–z 0–9 _ -, lower case.`);
}

/** Two adapters with one name would answer for each other. */
function adapterProblems(adapters: readonly ChannelAdapter[]): readonly string[] {
  const names = adapters.map(({ channel, accountId }) => `${channel}, account "${accountId}"`);
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `adapters: there are two for ${name}; give each an accountId of its own.`);
}

function defaultAgent(config: Config, agentIds: readonly string[]): string {
  const flagged = config.agents.list.find((agent) => agent.default)?.id;
  return flagged ?? agentIds[0] ?? "main";
}
