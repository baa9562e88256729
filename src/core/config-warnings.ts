import type { Config } from "./config.ts";
import { hasKnownIds, problemWithPerson, problemWithRoom } from "./policy/id-forms.ts";
import type { Owners } from "./policy/people.ts";
import { toolWarnings } from "./policy/tool-lists.ts";

/** What the options say beside the config. */
interface Known {
  /** Those that have an adapter. */
  readonly channels: readonly string[];
  readonly agentIds: readonly string[];
  readonly owners: Owners;
}

/** Things that are legal but rarely meant; the root logs them at start. */
export function configWarnings(config: Config, known: Known): readonly string[] {
  const warnings = config.session.sendPolicy.rules.flatMap((rule, index) => {
    const { channel: channels, chatType: types } = rule.match ?? {};
    const discordGroupAlone = asList(channels).includes("discord") && asList(types).join() === "group";
    return discordGroupAlone
      ? [
          `session.sendPolicy.rules[${index}] matches Discord with chatType "group": guild channels are "channel", so the rule only covers group DMs. Write chatType: ["group", "channel"] to cover both.`,
        ]
      : [];
  });
  if (config.agents.defaults.sandbox.sessionToolsVisibility === "all") {
    warnings.push(
      'agents.defaults.sandbox.sessionToolsVisibility is "all": sandboxed sessions see more than they spawned.',
    );
  }
  return [
    ...warnings,
    ...windowWarnings(config),
    ...strangerWarnings(config, known),
    ...listWarnings(config),
    ...pairingWarnings(config, known),
    ...idWarnings(config),
    ...toolWarnings(config),
  ];
}

/** With "interrupt" the next message ends the turn of the one before, so no message waits for it. */
function windowWarnings({ agents, channels }: Config): readonly string[] {
  if (agents.defaults.queue !== "interrupt") return [];
  return Object.entries(channels)
    .filter(([, { debounceMs }]) => debounceMs > 0)
    .map(([name]) => `channels.${name}.debounceMs has no effect while agents.defaults.queue is "interrupt".`);
}

/** While everybody shares a session no list lets people into it. */
function listWarnings({ session, channels, bindings }: Config): readonly string[] {
  const isShared = session.scope === "global" || session.dmScope === "main";
  if (!isShared || bindings.some((bound) => bound.session?.dmScope !== undefined)) return [];
  return Object.entries(channels)
    .filter(([, { allowFrom }]) => allowFrom.length > 0)
    .map(
      ([name]) =>
        `channels.${name}.allowFrom has no effect while session.dmScope is "main"; set "per-peer" or another scope.`,
    );
}

/** Names that nothing here answers to: most of them are typing mistakes. */
function strangerWarnings(config: Config, { channels, agentIds, owners }: Known): readonly string[] {
  const named = [
    ...Object.keys(config.channels).map((name) => [`channels.${name}`, name] as const),
    ...config.bindings.map(({ match }, i) => [`bindings[${i}].match.channel`, match.channel] as const),
    ...config.session.sendPolicy.rules.flatMap(({ match }, i) =>
      asList(match?.channel).map((name) => [`session.sendPolicy.rules[${i}].match.channel`, name] as const),
    ),
    ...channelsOf(owners).map((name) => [`owners.${name}`, name] as const),
  ];
  const { enabled, allow } = config.tools.agentToAgent;
  const granted = allow.flatMap((entry) => (typeof entry === "string" ? [] : [entry.from, entry.to]));
  return [
    ...named
      .filter(([, name]) => channels.length > 0 && !channels.includes(name))
      .map(([path, name]) => `${path}: there is no adapter for "${name}"; adapters: ${channels.join(", ")}.`),
    ...granted
      .filter((name) => !name.includes("*") && !agentIds.includes(name))
      .map(
        (name) => `tools.agentToAgent.allow: there is no agent "${name}"; agents: ${agentIds.join(", ")}.`,
      ),
    ...spawnable(config)
      .filter(([, name]) => !name.includes("*") && !agentIds.includes(name.toLowerCase()))
      .map(([path, name]) => `${path}: there is no agent "${name}"; agents: ${agentIds.join(", ")}.`),
    ...(allow.length > 0 && !enabled
      ? ["tools.agentToAgent.allow has no effect while enabled is false."]
      : []),
  ];
}

/** Strangers would be told codes that nobody can type. On WhatsApp the account's own chat is an owner's. */
function pairingWarnings({ channels: settings }: Config, { channels, owners }: Known): readonly string[] {
  const isSomebodyThere = channelsOf(owners).some((name) => channels.includes(name));
  if (isSomebodyThere || channels.includes("whatsapp")) return [];
  return Object.entries(settings)
    .filter(([name, { dmPolicy }]) => dmPolicy === "pairing" && channels.includes(name))
    .map(
      ([name]) =>
        `channels.${name}.dmPolicy is "pairing", but no owner could approve anybody; write your id into owners, e.g. owners: { ${name}: ["…"] }.`,
    );
}

function channelsOf(owners: Owners): readonly string[] {
  return [...new Set([...owners].map((owner) => owner.slice(0, owner.indexOf(":"))))];
}

type Entry = readonly [path: string, entry: string | number, problem: string | undefined];

/** Entries that fit nobody and no chat, whatever happens. */
function idWarnings({ channels, session, bindings }: Config): readonly string[] {
  const entries: readonly Entry[] = [
    ...Object.entries(channels).flatMap(([name, settings]) => channelEntries(name, settings)),
    ...Object.entries(session.identityLinks).flatMap(([name, ids]) =>
      ids.map((entry, i) => {
        const [channel = ""] = entry.toLowerCase().split(":");
        return [`session.identityLinks.${name}[${i}]`, entry, ofPerson(channel, entry)] as const;
      }),
    ),
    ...bindings.flatMap(({ match: { channel, peer } }, i) => {
      if (peer === undefined) return [];
      const problem = peer.kind === "direct" ? ofPerson(channel, peer.id) : ofRoom(channel, peer.id);
      return [[`bindings[${i}].match.peer.id`, peer.id, problem] as const];
    }),
  ];
  return entries.flatMap(([path, entry, problem]) =>
    problem === undefined ? [] : [`${path}: "${entry}" ${problem}.`],
  );
}

function channelEntries(name: string, settings: Config["channels"][string]): readonly Entry[] {
  const { allowFrom, groupAllowFrom, groups } = settings;
  const path = `channels.${name}`;
  return [
    ...allowFrom.map((entry, i) => [`${path}.allowFrom[${i}]`, entry, ofPerson(name, entry)] as const),
    ...groupAllowFrom.map(
      (entry, i) => [`${path}.groupAllowFrom[${i}]`, entry, ofRoom(name, entry)] as const,
    ),
    ...Object.keys(groups).map((entry) => [`${path}.groups`, entry, ofRoom(name, entry)] as const),
  ];
}

function ofPerson(channel: string, entry: string | number): string | undefined {
  return hasKnownIds(channel) ? problemWithPerson(channel, entry) : undefined;
}

/** A topic or thread is named behind its room. */
function ofRoom(channel: string, entry: string | number): string | undefined {
  const [room = ""] = String(entry).split(/:(?:topic|thread):/);
  return room === "*" ? undefined : problemWithRoom(channel, room);
}

/** Every agent that a setting allows to be spawned, with the place of the setting. */
function spawnable({ agents }: Config): readonly (readonly [string, string])[] {
  const { allowAgents = [] } = agents.defaults.subagents;
  return [
    ...allowAgents.map((name) => ["agents.defaults.subagents.allowAgents", name] as const),
    ...agents.list.flatMap(({ subagents }, i) =>
      (subagents.allowAgents ?? []).map((name) => [`agents.list[${i}].subagents.allowAgents`, name] as const),
    ),
  ];
}

function asList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  // Array.isArray does not narrow a readonly array out of the union.
  return Array.isArray(value) ? value : [value as T];
}
