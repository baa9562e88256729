import { z } from "zod";
import { channel } from "./config-channel.ts";
import { configSchema } from "./config-schema.ts";
import { SwitchboardError } from "./errors.ts";
import { groupRules, toolWarnings } from "./policy/tool-lists.ts";

/** What a bot developer writes; every key has a default. */
export type ConfigInput = z.input<typeof configSchema>;
/** What the code reads: complete, checked, with defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type ChannelConfig = Config["channels"][string];

/** Checks shape and ranges, and what zod cannot know; reports every problem at once as CONFIG_INVALID. */
export function parseConfig(input: unknown, agentIds: readonly string[]): Config {
  const parsed = configSchema.safeParse(input ?? {});
  const unusable = protoPlaces(input).map((place) => `${place}: "__proto__" can be no name; choose another`);
  if (!parsed.success) throw invalid([...parsed.error.issues.flatMap(describeIssue), ...unusable]);
  if (unusable.length > 0) throw invalid(unusable);
  const problems = crossChecks(parsed.data, agentIds);
  if (problems.length > 0) throw invalid(problems);
  return parsed.data;
}

/** JSON schema of ConfigInput, for plugin.manifest.json and editors. */
export function configJsonSchema(): object {
  return JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: "input" })));
}

const unnamedChannel: ChannelConfig = channel.parse({});

/** The settings of a channel that the config does not name. */
export function channelConfig(config: Config, name: string): ChannelConfig {
  return Object.hasOwn(config.channels, name) ? (config.channels[name] ?? unnamedChannel) : unnamedChannel;
}

/** Things that are legal but rarely meant; the root logs them at start. */
export function configWarnings(
  config: Config,
  known: { readonly channels: readonly string[]; readonly agentIds: readonly string[] },
): readonly string[] {
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
function strangerWarnings(
  config: Config,
  { channels, agentIds }: { readonly channels: readonly string[]; readonly agentIds: readonly string[] },
): readonly string[] {
  const named = [
    ...Object.keys(config.channels).map((name) => [`channels.${name}`, name] as const),
    ...config.bindings.map(({ match }, i) => [`bindings[${i}].match.channel`, match.channel] as const),
    ...config.session.sendPolicy.rules.flatMap(({ match }, i) =>
      asList(match?.channel).map((name) => [`session.sendPolicy.rules[${i}].match.channel`, name] as const),
    ),
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

function crossChecks(config: Config, agentIds: readonly string[]): readonly string[] {
  const known = agentIds.join(", ") || "none";
  const unknownAgent = (path: string, id: string) =>
    agentIds.includes(id) ? [] : [`${path}: no agent "${id}"; configured: ${known}`];
  return [
    ...config.agents.list.flatMap((agent, i) => unknownAgent(`agents.list[${i}].id`, agent.id)),
    ...config.bindings.flatMap((bound, i) => unknownAgent(`bindings[${i}].agentId`, bound.agentId)),
    ...(config.agents.list.filter((agent) => agent.default).length > 1
      ? ["agents.list: at most one agent may have default: true"]
      : []),
    ...Object.entries(config.channels).flatMap(([name, settings]) => channelProblems(name, settings, config)),
    ...groupRules(config).flatMap(topicProblems),
  ];
}

function channelProblems(
  name: string,
  { dmPolicy, allowFrom, groupAllowFrom }: ChannelConfig,
  { session }: Config,
): readonly string[] {
  const admitsStrangers = dmPolicy === "open" || dmPolicy === "pairing";
  return [
    ...(admitsStrangers && session.dmScope === "main"
      ? [
          `channels.${name}.dmPolicy: "${dmPolicy}" would put strangers into the owner's session while session.dmScope is "main"; set session.dmScope to per-peer, per-channel-peer or per-account-channel-peer`,
        ]
      : []),
    ...(dmPolicy === "pairing" && session.scope === "global"
      ? [
          `channels.${name}.dmPolicy: "pairing" would put strangers into the session that everybody shares while session.scope is "global"; set session.scope to per-sender`,
        ]
      : []),
    ...([...allowFrom, ...groupAllowFrom].includes("*")
      ? [`channels.${name}: "*" is not an id; use dmPolicy or groupPolicy "open" to admit everybody`]
      : []),
  ];
}

/** Rules that would hold nowhere. */
function topicProblems({ path, chatId, rules }: ReturnType<typeof groupRules>[number]): readonly string[] {
  const [room = "", ...inner] = chatId.split(/:(?:topic|thread):/);
  const isEmpty = (rules.allow ?? []).length === 0 && rules.deny.length === 0;
  return inner.length === 0 || isEmpty
    ? []
    : [`${path}: a topic or thread has the tools of its room; write them below "${room}"`];
}

/** Where an object has a member of this name, which zod leaves out without a word. Nothing in a config lies deeper. */
function protoPlaces(value: unknown, path: readonly PropertyKey[] = []): readonly string[] {
  if (typeof value !== "object" || value === null || path.length > 8) return [];
  const own = Object.hasOwn(value, "__proto__") ? [pathOf(path)] : [];
  const step = (name: string) => (Array.isArray(value) ? Number(name) : name);
  return [...own, ...Object.entries(value).flatMap(([name, one]) => protoPlaces(one, [...path, step(name)]))];
}

function describeIssue(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const inner = issue.errors
      .flat()
      .map((one) => (one.path.length > 0 ? `${pathOf(one.path)}: ${one.message}` : one.message));
    return [`${pathOf(issue.path)}: ${[...new Set(inner)].join(", or ")}`];
  }
  return [`${pathOf(issue.path)}: ${issue.message}`];
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return text.replace(/^\./, "") || "config";
}

function invalid(problems: readonly string[]): SwitchboardError {
  const lines = problems.map((problem) => `- ${problem}`).join("\n");
  return new SwitchboardError("CONFIG_INVALID", `The config has ${problems.length} problem(s):\n${lines}`, {
    details: { problems },
  });
}

function asList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  // Array.isArray does not narrow a readonly array out of the union.
  return Array.isArray(value) ? value : [value as T];
}
