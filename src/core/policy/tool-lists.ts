import type { Config } from "../config.ts";
import { matchesPattern } from "./pattern.ts";

/** Every session tool, in the order in which agents see them: `group:sessions` in lists. */
export const SESSION_TOOLS: readonly string[] = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "subagents",
  "session_status",
  "agents_list",
];

/** A denial beats a permission; without `allow`, or with an empty one, everything else is allowed. */
export interface ToolRules {
  readonly allow?: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** Rules where they stand in the config. */
export interface PlacedRules {
  readonly path: string;
  readonly rules: ToolRules;
}

/** agents_list says what sessions_spawn accepts, so whatever lists that one lists both. */
export function isListed(name: string, list: readonly string[]): boolean {
  const aliases = name === "agents_list" ? [name, "sessions_spawn"] : [name];
  return aliases.some((alias) =>
    list.some((entry) =>
      isSessionGroup(entry) ? SESSION_TOOLS.includes(alias) : matchesPattern(entry, alias),
    ),
  );
}

export function agentRules({ agents }: Config): readonly (PlacedRules & { readonly agentId: string })[] {
  return agents.list.map(({ id, tools }, index) => ({
    agentId: id,
    path: `agents.list[${index}].tools`,
    rules: tools,
  }));
}

export function providerRules({ tools }: Config): readonly (PlacedRules & { readonly pattern: string })[] {
  return Object.entries(tools.byProvider).map(([pattern, rules]) => ({
    pattern,
    path: `tools.byProvider[${JSON.stringify(pattern)}]`,
    rules,
  }));
}

export function groupRules({
  channels,
}: Config): readonly (PlacedRules & { readonly channel: string; readonly chatId: string })[] {
  return Object.entries(channels).flatMap(([channel, { groups }]) =>
    Object.entries(groups).map(([chatId, { tools }]) => ({
      channel,
      chatId,
      path: `channels.${channel}.groups[${JSON.stringify(chatId)}].tools`,
      rules: tools,
    })),
  );
}

/** One line for each entry of a list that fits no tool: most of them are typing mistakes, and one in `allow` takes tools away. */
export function toolWarnings(config: Config): readonly string[] {
  const { tools } = config;
  const lists: readonly (readonly [path: string, entries: readonly string[]])[] = [
    ["tools.alsoAllow", tools.alsoAllow],
    ["tools.subagents.tools.alsoAllow", tools.subagents.tools.alsoAllow],
    ...[
      { path: "tools", rules: tools },
      ...providerRules(config),
      ...agentRules(config),
      ...groupRules(config),
      { path: "tools.sandbox.tools", rules: tools.sandbox.tools },
      { path: "tools.subagents.tools", rules: tools.subagents.tools },
    ].flatMap(({ path, rules }) => [
      [`${path}.allow`, rules.allow ?? []] as const,
      [`${path}.deny`, rules.deny] as const,
    ]),
  ];
  return lists.flatMap(([path, entries]) =>
    entries
      .filter((entry) => !SESSION_TOOLS.some((name) => isListed(name, [entry])))
      .map((entry) => `${path}: there is no tool "${entry}"; tools: ${SESSION_TOOLS.join(", ")}.`),
  );
}

function isSessionGroup(entry: string): boolean {
  return entry.trim().toLowerCase() === "group:sessions";
}
