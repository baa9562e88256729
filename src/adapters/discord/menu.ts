import type {
  APIApplicationCommand,
  APIApplicationCommandOption,
  LocalizationMap,
  REST,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import type { CommandArgument, CommandSpec, Localized } from "../../core/ports/command.ts";

type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

const chatInput = 1;
const stringOption = 3;
const guildAndBotDirect = [0, 1];
const longestDescription = 100;

/** What has to be done so that the menu holds our commands. */
export interface MenuPlan {
  /** Id → name of the host's commands that have the name of one of ours: never touched, never answered. */
  readonly foreign: ReadonlyMap<string, string>;
  readonly changes: readonly { readonly existingId?: string; readonly definition: Definition }[];
}

/** Compares the registered commands with ours; changes nothing. */
export async function planMenu(
  rest: REST,
  applicationId: string,
  specs: readonly CommandSpec[],
): Promise<MenuPlan> {
  const query = new URLSearchParams({ with_localizations: "true" });
  // The shape of the answer is Discord's promise; discord.js types it as unknown.
  const existing = (await rest.get(menuPath(applicationId), { query })) as readonly APIApplicationCommand[];
  const foreign = new Map<string, string>();
  const changes: MenuPlan["changes"][number][] = [];
  for (const definition of specs.map(toDefinition)) {
    const present = existing.find(({ name, type }) => name === definition.name && type === chatInput);
    if (!present) changes.push({ definition });
    else if (!isOurs(present, definition)) foreign.set(present.id, present.name);
    else if (!isSame(present, definition)) changes.push({ existingId: present.id, definition });
  }
  return { foreign, changes };
}

/** Makes and updates our commands one by one until `signal` is aborted; the host's commands stay as they are. */
export async function applyMenu(
  rest: REST,
  applicationId: string,
  { changes }: MenuPlan,
  signal: AbortSignal,
): Promise<void> {
  const path = menuPath(applicationId);
  for (const { existingId, definition } of changes) {
    if (signal.aborted) return;
    if (existingId) await rest.patch(`${path}/${existingId}`, { body: definition });
    else await rest.post(path, { body: definition });
  }
}

const menuPath = (applicationId: string) => `/applications/${applicationId}/commands` as const;

function toDefinition({ name, description, args }: CommandSpec): Definition {
  return { name, ...described(description), options: args.map(toOption), contexts: guildAndBotDirect };
}

function toOption({ name, description, required, choices }: CommandArgument): APIApplicationCommandOption {
  const fixed = choices?.length ? { choices: choices.map((value) => ({ name: value, value })) } : {};
  return { type: stringOption, name, ...described(description), required, ...fixed };
}

function described(texts: Localized) {
  const cut = (text: string) => text.slice(0, longestDescription);
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
function isOurs(present: APIApplicationCommand, wanted: Definition): boolean {
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

function isSame(present: APIApplicationCommand, wanted: Definition): boolean {
  return JSON.stringify(essence(present)) === JSON.stringify(essence(wanted));
}

/** The fields that we set, in one order, without what Discord leaves out or fills in as empty. */
function essence(command: Definition | APIApplicationCommand): unknown {
  const { name, description, description_localizations, options, contexts } = command;
  return plain({ name, description, description_localizations, options, contexts });
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
