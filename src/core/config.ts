import { z } from "zod";
import { channel } from "./config-channel.ts";
import { configSchema } from "./config-schema.ts";
import { SwitchboardError } from "./errors.ts";
import { groupRules } from "./policy/tool-lists.ts";

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
