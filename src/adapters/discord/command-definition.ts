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
export function toDefinition({ name, description, args }: CommandSpec): Definition {
  return {
    name,
    ...described(description),
    options: args.map(toOption),
    contexts: guildAndBotDirect,
    integration_types: guildInstall,
  };
}

/** A closed set of values is chosen from, an open one suggested; Discord knows no argument that is both. */
function toOption(argument: CommandArgument): APIApplicationCommandOption {
  const { name, description, required, choices, completes } = argument;
  const option = { type: stringOption, name, ...described(description), required } as const;
  if (choices?.length) return { ...option, choices: choices.map((value) => ({ name: value, value })) };
  return completes ? { ...option, autocomplete: true } : option;
}

function described(texts: Localized) {
  const cut = (text: string) => shorten(text, longestDescription);
  const localizations: LocalizationMap = {
    "es-ES": cut(texts.es),
    "es-419": cut(texts.es),
    "pt-BR": cut(texts["pt-BR"]),
    hi: cut(texts.hi),
  };
  return { description: cut(texts.en), description_localizations: localizations };
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
  const { name, description, description_localizations, options, contexts, integration_types } = command;
  return plain({ name, description, description_localizations, options, contexts, integration_types });
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const filled = Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== undefined && inner !== false)
    .filter(([, inner]) => !Array.isArray(inner) || inner.length > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return filled.map(([key, inner]) => [key, plain(inner)]);
}
