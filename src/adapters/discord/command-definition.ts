import type {
  APIApplicationCommand,
  APIApplicationCommandOption,
  LocalizationMap,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import type { CommandArgument, CommandSpec, Localized } from "../../core/ports/command.ts";
import { shorten } from "../../core/text/shorten.ts";

export type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

const stringOption = 3;
/** The places that sessions are about: servers that have the bot, and direct chats with it. */
const guildAndBotDirect = [0, 1];
const guildInstall = [0];
const longestDescription = 100;

/**
 * The body with which Discord registers one of our commands. It is in everybody's menu, as owners are known by their ids alone:
 * the core refuses the others. Who sees it at all is for a server's integration settings, which stay as they are.
 */
export function toDefinition({ name, names, description, args }: CommandSpec): Definition {
  return {
    ...named(name, names),
    ...described(description),
    options: args.map(toOption),
    contexts: guildAndBotDirect,
    integration_types: guildInstall,
  };
}

/** A closed set of values is chosen from, an open one suggested; Discord knows no argument that is both. */
function toOption(argument: CommandArgument): APIApplicationCommandOption {
  const { name, names, description, required, choices, choiceNames, completes } = argument;
  const option = {
    type: stringOption,
    ...named(name, names),
    ...described(description),
    required,
  } as const;
  if (choices?.length) {
    return {
      ...option,
      choices: choices.map((value, at) => ({ ...named(value, choiceNames?.[at]), value })),
    };
  }
  return completes ? { ...option, autocomplete: true } : option;
}

/** An interaction carries the name, whatever the person sees. */
function named(name: string, names: Localized | undefined) {
  return names === undefined ? { name } : { name, name_localizations: localizations({ ...names, en: name }) };
}

function described(texts: Localized) {
  const cut = (text: string) => shorten(text, longestDescription);
  const { en, es, hi, "pt-BR": pt } = texts;
  const fitting = { en: cut(en), es: cut(es), hi: cut(hi), "pt-BR": cut(pt) };
  return { description: fitting.en, description_localizations: localizations(fitting) };
}

/** Discord does not keep what is said as in English: with it, a command would never be as we want it. */
function localizations({ en, es, hi, "pt-BR": pt }: Localized): LocalizationMap {
  const texts = { "es-ES": es, "es-419": es, "pt-BR": pt, hi };
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== en));
}

/**
 * The definition without the names that another command of the bot has in the same language: two of one name are refused. There ours is shown by its
 * English name.
 */
export function withoutTaken(definition: Definition, others: readonly APIApplicationCommand[]): Definition {
  if (!definition.name_localizations) return definition;
  const isTaken = (locale: string, wanted: unknown) =>
    others.some(({ name, name_localizations }) => {
      const theirs = Object.entries(name_localizations ?? {});
      return name === wanted || theirs.some(([at, called]) => at === locale && called === wanted);
    });
  const names = Object.entries(definition.name_localizations);
  const free = names.filter(([locale, name]) => !isTaken(locale, name));
  return { ...definition, name_localizations: Object.fromEntries(free) };
}

/**
 * Whether a command with our name was made by us, perhaps by an earlier version: one of its descriptions, in whatever
 * language, is ours. Discord keeps no other trace of who made a command.
 */
export function isOurs(present: APIApplicationCommand, wanted: Definition): boolean {
  const texts = ({
    description,
    description_localizations,
  }: Pick<Definition, "description" | "description_localizations">) => [
    description,
    ...Object.values(description_localizations ?? {}),
  ];
  const wantedTexts = texts(wanted);
  return texts(present).some((text) => text && wantedTexts.includes(text));
}

/** Whether a registered command has all that we set; who may see it (`default_member_permissions`) is left to the host. */
export function isSame(present: APIApplicationCommand, wanted: Definition): boolean {
  return JSON.stringify(essence(present)) === JSON.stringify(essence(wanted));
}

/** The fields that we set, in one order, without what Discord leaves out or fills in as empty. */
function essence(command: Definition | APIApplicationCommand): unknown {
  const { name, name_localizations, description, description_localizations } = command;
  const { options, contexts, integration_types } = command;
  const texts = { name, name_localizations, description, description_localizations };
  return plain({ ...texts, options, contexts, integration_types });
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)] as const)
    .filter(([, inner]) => inner !== null && inner !== undefined && inner !== false)
    .filter(([, inner]) => !Array.isArray(inner) || inner.length > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
