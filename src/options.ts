import type { Keyv } from "keyv";
import { systemClock } from "./core/clock.ts";
import { type Config, type ConfigInput, parseConfig } from "./core/config.ts";
import { SwitchboardError } from "./core/errors.ts";
import { maskedLogger, quietLogger } from "./core/logger.ts";
import { createOwners, type Owners } from "./core/policy/people.ts";
import type { ChannelAdapter } from "./core/ports/chat.ts";
import type { Events } from "./core/ports/events.ts";
import type { Clock, Logger } from "./core/ports/host.ts";
import type { AgentRunner, NewEntry } from "./core/ports/run.ts";
import { createEvents } from "./core/runs/events.ts";
import { type KeyNames, keyNames, normalizeAgentId } from "./core/session/key.ts";
import { createRedactor, type Redactor } from "./core/transcript/redact.ts";

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
  /** The external harness behind sessions_spawn with runtime "acp": `acpAgent({ command })`. Absent: such spawns are refused. */
  readonly acp?: AgentRunner;
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
  /** For what people read in a chat, logs and events: live tokens never leave, but an example of a key stays what it is. */
  readonly exactRedactor: Redactor;
}

/** What the options say, checked. CONFIG_INVALID names every problem at once. */
export function createBasics(options: SwitchboardOptions): Basics {
  const shape = shapeProblems(options);
  if (shape.length > 0) throw invalid(shape);
  const agents = new Map(Object.entries(options.agents));
  const agentIds = [...agents.keys()];
  const problems = [
    ...agentProblems(agents),
    ...adapterProblems(options.adapters ?? []),
    ...(options.acp === undefined || typeof options.acp?.run === "function"
      ? []
      : ['acp: not an agent; write acp: acpAgent({ command: "gemini", args: ["--acp"] }).']),
  ];
  const config = attempt(() => parseConfig(options.config, agentIds), problems);
  const owners = attempt(() => createOwners(options.owners ?? {}), problems);
  if (config === undefined || owners === undefined || problems.length > 0) throw invalid(problems);
  const { clock = systemClock } = options;
  const exactRedactor = createRedactor({ registered: config.redaction.values, patterns: false });
  const mask = (text: string) => exactRedactor.redact(text).text;
  const logger = maskedLogger(options.logger ?? quietLogger, mask);
  return {
    config,
    clock,
    logger,
    agents,
    agentIds,
    adapters: options.adapters ?? [],
    names: keyNames(config, defaultAgent(config, agentIds)),
    owners,
    events: createEvents(logger, mask),
    exactRedactor,
  };
}

const OPTIONS: ReadonlySet<string> = new Set([
  "agents",
  "adapters",
  "owners",
  "config",
  "dataDir",
  "store",
  "storePrefix",
  "logger",
  "clock",
  "externalHistory",
  "acp",
]);

/** What a type checker would have said to those who have one. */
function shapeProblems(options: unknown): readonly string[] {
  if (!isRecord(options) || !isRecord(options.agents)) {
    return ["agents: give at least one, e.g. { agents: { main: functionAgent(({ text }) => text) } }."];
  }
  const lists = isRecord(options.owners) ? Object.entries(options.owners) : [];
  return [
    ...Object.keys(options)
      .filter((name) => !OPTIONS.has(name))
      .map((name) => `"${name}" is no option; options: ${[...OPTIONS].join(", ")}.`),
    ...(options.adapters === undefined || Array.isArray(options.adapters) ? [] : ["adapters: give a list."]),
    ...(options.owners === undefined || isRecord(options.owners)
      ? []
      : ['owners: give lists of ids by channel, e.g. { discord: ["80351110224678912"] }.']),
    ...lists
      .filter(([, ids]) => !Array.isArray(ids))
      .map(([channel]) => `owners.${channel}: give a list of ids.`),
  ];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The problems of a CONFIG_INVALID join the others. */
function attempt<T>(parse: () => T, problems: string[]): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== "CONFIG_INVALID") throw error;
    // Every CONFIG_INVALID of ours carries its problems.
    problems.push(...((error.details.problems as readonly string[] | undefined) ?? [error.message]));
    return undefined;
  }
}

function invalid(problems: readonly string[]): SwitchboardError {
  const lines = problems.map((problem) => `- ${problem}`).join("\n");
  const message = `The options have ${problems.length} problem(s):\n${lines}`;
  return new SwitchboardError("CONFIG_INVALID", message, { details: { problems } });
}

function agentProblems(agents: ReadonlyMap<string, AgentRunner>): readonly string[] {
  if (agents.size === 0) return ["agents: give at least one."];
  return [...agents].flatMap(([id, runner]) => [
    ...(normalizeAgentId(id) === id
      ? []
      : [`agents: "${id}" is no agent id; use 1–64 of a–z 0–9 _ -, lower case.`]),
    ...(typeof runner?.run === "function"
      ? []
      : [`agents.${id}: not an agent; wrap a function in functionAgent(…).`]),
  ]);
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
