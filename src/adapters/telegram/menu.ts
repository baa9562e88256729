import type { Api } from "grammy";
import type { BotCommand, BotCommandScope, LanguageCode } from "grammy/types";
import type { CommandSpec, Locale } from "../../core/ports/command.ts";
import { asGrammySignal } from "./grammy-signal.ts";

/** Telegram knows two-letter languages only; the list without a language is for everybody else. */
const languages: readonly { readonly code?: LanguageCode; readonly locale: Locale }[] = [
  { locale: "en" },
  { code: "es", locale: "es" },
  { code: "pt", locale: "pt-BR" },
  { code: "hi", locale: "hi" },
];
const scopes = ["default", "all_private_chats", "all_group_chats", "all_chat_administrators"] as const;
const longestMenu = 100;
const longestDescription = 256;

/** The command list of one scope and language. */
interface Menu {
  readonly at: { readonly scope: BotCommandScope; readonly language_code?: LanguageCode };
  readonly locale: Locale;
  readonly present: readonly BotCommand[];
  /** The list of the same scope for languages that have none of their own. */
  readonly general: readonly BotCommand[];
}

/**
 * Adds our commands to the command menus of the bot; what the host has put there stays and comes first. A menu that covers only
 * some chats hides the general one there, so it is completed too, but never created. Returns the names of ours that the host
 * uses itself: those entries stay the host's.
 */
export async function mergeMenus(
  api: Api,
  specs: readonly CommandSpec[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const taken = new Set<string>();
  for (const type of scopes) {
    for (const menu of await menusIn({ type }, api, signal)) {
      const hosts = hostsCommandsIn(menu, specs);
      for (const { command } of hosts) taken.add(command);
      const merged = merge(hosts, specs, menu.locale);
      if (!isSame(menu.present, merged)) await api.setMyCommands(merged, menu.at, asGrammySignal(signal));
    }
  }
  return specs.map(({ name }) => name).filter((name) => taken.has(name));
}

/** The menus of a scope that have to hold our commands. */
async function menusIn(scope: BotCommandScope, api: Api, signal: AbortSignal): Promise<readonly Menu[]> {
  const menus = await Promise.all(
    languages.map(async ({ code, locale }) => {
      const at = { scope, ...(code ? { language_code: code } : {}) };
      return { at, locale, present: await api.getMyCommands(at, asGrammySignal(signal)) };
    }),
  );
  const general = menus[0]?.present ?? [];
  return menus
    .filter(({ present }) => scope.type === "default" || present.length > 0 || general.length > 0)
    .map((menu) => ({ ...menu, general }));
}

/** Everything but our own earlier entries, in whatever language; each name once. */
function hostsCommandsIn({ present, general }: Menu, specs: readonly CommandSpec[]): readonly BotCommand[] {
  const isOurs = ({ command, description }: BotCommand) =>
    specs.some(
      (spec) => spec.name === command && Object.values(spec.description).map(cut).includes(description),
    );
  const hosts = [...present, ...general].filter((entry) => !isOurs(entry));
  return [...new Map(hosts.toReversed().map((entry) => [entry.command, entry])).values()].toReversed();
}

function merge(
  hosts: readonly BotCommand[],
  specs: readonly CommandSpec[],
  locale: Locale,
): readonly BotCommand[] {
  const ours = specs
    .filter(({ name }) => !hosts.some(({ command }) => command === name))
    .map(({ name, description }) => ({ command: name, description: cut(description[locale]) }));
  return [...hosts, ...ours].slice(0, longestMenu);
}

const cut = (description: string) => description.slice(0, longestDescription).replace(/\p{Surrogate}$/u, "");

const isSame = (before: readonly BotCommand[], after: readonly BotCommand[]) =>
  JSON.stringify(before.map(essence)) === JSON.stringify(after.map(essence));

const essence = ({ command, description }: BotCommand) => [command, description];
