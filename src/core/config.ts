import { z } from "zod";
import { channel, configSchema } from "./config-schema.ts";
import { SwitchboardError } from "./errors.ts";
import { toolWarnings } from "./policy/tool-lists.ts";

/** What a bot developer writes; every key has a default. */
export type ConfigInput = z.input<typeof configSchema>;
/** What the code reads: complete, checked, with defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type ChannelConfig = Config["channels"][string];

/** Checks shape and ranges, and what zod cannot know; reports every problem at once as CONFIG_INVALID. */
export function parseConfig(input: unknown, agentIds: readonly string[]): Config {
  const parsed = configSchema.safeParse(input ?? {});
  if (!parsed.success) throw invalid(parsed.error.issues.flatMap(describeIssue));
  const problems = crossChecks(parsed.data, agentIds);
  if (problems.length > 0) throw invalid(problems);
  return parsed.data;
}

/** JSON schema of ConfigInput, for plugin.manifest.json and editors. */
export function configJsonSchema(): object {
  return JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: "input" })));
}

/** The settings of a channel that the config does not name. */
export function channelConfig(config: Config, name: string): ChannelConfig {
  return Object.hasOwn(config.channels, name)
    ? (config.channels[name] ?? channel.parse({}))
    : channel.parse({});
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
  return [...warnings, ...strangerWarnings(config, known), ...toolWarnings(config)];
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
  const opened = Object.entries(config.channels).filter(([, settings]) => settings.dmPolicy === "open");
  return [
    ...config.agents.list.flatMap((agent, i) => unknownAgent(`agents.list[${i}].id`, agent.id)),
    ...config.bindings.flatMap((bound, i) => unknownAgent(`bindings[${i}].agentId`, bound.agentId)),
    ...(config.agents.list.filter((agent) => agent.default).length > 1
      ? ["agents.list: at most one agent may have default: true"]
      : []),
    ...opened.flatMap(([name]) =>
      config.session.dmScope === "main"
        ? [
            `channels.${name}.dmPolicy: "open" would put strangers into the owner's session while session.dmScope is "main"; set session.dmScope to per-peer, per-channel-peer or per-account-channel-peer`,
          ]
        : [],
    ),
    ...Object.entries(config.channels).flatMap(([name, settings]) =>
      [...settings.allowFrom, ...settings.groupAllowFrom].includes("*")
        ? [`channels.${name}: "*" is not an id; use dmPolicy or groupPolicy "open" to admit everybody`]
        : [],
    ),
  ];
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
