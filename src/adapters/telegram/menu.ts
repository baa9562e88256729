import type { Api } from "grammy";
import type { BotCommand, BotCommandScope, LanguageCode } from "grammy/types";
import type { CommandSpec, Locale } from "../../core/ports/command.ts";
import { shorten } from "../../core/text/shorten.ts";
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
/** Names and descriptions of one menu together. Telegram refuses more without saying how much it takes; this much works. */
const mostCharacters = 5700;

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
      const merged = merge(menu, specs);
      for (const { command } of hostsIn(merged, specs)) taken.add(command);
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

/** Everything but our own earlier entries, in whatever language. */
function hostsIn(list: readonly BotCommand[], specs: readonly CommandSpec[]): readonly BotCommand[] {
  const isOurs = ({ command, description }: BotCommand) =>
    specs.some(
      (spec) => spec.name === command && Object.values(spec.description).map(cut).includes(description),
    );
  return list.filter((entry) => !isOurs(entry));
}

/** What the host has there stays; then come its general entries and ours, each name once, as many as there is room for. */
function merge({ present, general, locale }: Menu, specs: readonly CommandSpec[]): readonly BotCommand[] {
  const kept = hostsIn(present, specs);
  const whispered = new Set(present.filter(({ is_ephemeral }) => is_ephemeral).map(({ command }) => command));
  const ours = telegramCommands(specs, locale).map((entry) =>
    whispered.has(entry.command) ? { ...entry, is_ephemeral: true } : entry,
  );
  const added = [...hostsIn(general, specs), ...ours];
  const merged = [...kept];
  let room = mostCharacters - kept.reduce((sum, entry) => sum + sizeOf(entry), 0);
  for (const entry of added) {
    const isThere = merged.some(({ command }) => command === entry.command);
    if (isThere || merged.length === longestMenu || sizeOf(entry) > room) continue;
    merged.push(entry);
    room -= sizeOf(entry);
  }
  return merged;
}

/**
 * Our commands as menu entries, for a host that sets its menus itself. `ephemeral`: in groups (scope all_group_chats) nobody but whoever picks one sees the command
 * and its answer; Bot API servers before 10.2 take no notice of it.
 */
export function telegramCommands(
  specs: readonly CommandSpec[],
  locale: Locale = "en",
  { ephemeral = false }: { readonly ephemeral?: boolean } = {},
): readonly BotCommand[] {
  return specs.map(({ name, description }) => ({
    command: name,
    description: cut(description[locale]),
    ...(ephemeral ? { is_ephemeral: true } : {}),
  }));
}

const sizeOf = ({ command, description }: BotCommand) => command.length + description.length;

const cut = (description: string) => shorten(description, longestDescription);

const isSame = (before: readonly BotCommand[], after: readonly BotCommand[]) =>
  JSON.stringify(before.map(essence)) === JSON.stringify(after.map(essence));

const essence = ({ command, description }: BotCommand) => [command, description];
