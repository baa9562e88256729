import type { Command } from "./commands.ts";
import type { SlashCall } from "./interactions.ts";
import { isCalled } from "./localized-names.ts";
import { type BotAccount, type Channel, isDirect, type User, type World } from "./world.ts";

export interface UseOptions {
  readonly in?: Channel;
  readonly by?: User;
  readonly locale?: string;
  readonly bot?: BotAccount;
}

export interface SlashOptions extends UseOptions {
  readonly options?: Readonly<Record<string, string>>;
  /** The command registered for the guild instead of the global one. */
  readonly ofGuild?: boolean;
}

/** Where a person uses a bot. */
export interface Place {
  readonly world: World;
  readonly channel: Channel;
  readonly by: User;
  readonly locale: string;
}

const interactionTypes = { command: 2, press: 3, typing: 4 } as const;

/** The INTERACTION_CREATE payload. */
export function interactionPayload(call: SlashCall, place: Place, data: object): object {
  const { channel, locale } = place;
  return {
    id: call.id,
    application_id: call.bot.applicationId,
    type: interactionTypes[call.kind],
    token: call.token,
    version: 1,
    channel_id: channel.id,
    channel,
    locale,
    app_permissions: "2248473465835073",
    attachment_size_limit: 10_485_760,
    entitlements: [],
    ...surroundings(place),
    ...data,
  };
}

function surroundings({ world, channel, by }: Place): object {
  if (isDirect(channel)) return { user: by, context: 1, authorizing_integration_owners: { 1: by.id } };
  return {
    member: world.member(by),
    guild_id: world.guildId,
    guild: { id: world.guildId, locale: "en-US", features: [] },
    guild_locale: "en-US",
    context: 0,
    authorizing_integration_owners: { 0: world.guildId },
  };
}

/**
 * A command with its options, each as the person's client calls it or by its real name; the payload has the real ones. What a client would not let
 * through is an error of the test.
 */
export function commandData(command: Command, { options = {}, locale = "en-US" }: SlashOptions): object {
  const chosen = Object.entries(options).map(([word, entered]) => {
    const { name, type, choices } = optionOf(command, word, locale);
    if (!choices?.length) return { name, type, value: entered };
    const choice = choices.find((one) => one.value === entered || isCalled(one, entered, locale));
    if (!choice) throw new Error(`A person cannot choose "${entered}" for "${name}" of /${command.name}.`);
    return { name, type, value: choice.value };
  });
  const isGiven = (wanted: string) => chosen.some(({ name }) => name === wanted);
  const missing = command.options?.find(({ name, required }) => required && !isGiven(name));
  if (missing) throw new Error(`A person cannot call /${command.name} without "${missing.name}".`);
  return { data: { ...identityOf(command), options: chosen } };
}

/** Words in an option that the bot completes. */
export function typingData(command: Command, option: string, typed: string, locale?: string): object {
  const { name, type, autocomplete } = optionOf(command, option, locale);
  if (!autocomplete) throw new Error(`Option "${name}" of /${command.name} has no autocomplete.`);
  return {
    data: { ...identityOf(command), options: [{ name, type, value: typed, focused: true }] },
  };
}

export function pressData(message: object, customId: string): object {
  return { message, data: { custom_id: customId, component_type: 2, id: 1 } };
}

function identityOf(command: Command): object {
  const scope = "guild_id" in command ? { guild_id: command.guild_id } : {};
  return { id: command.id, name: command.name, type: 1, ...scope };
}

function optionOf(command: Command, word: string, locale = "en-US") {
  const spec = command.options?.find((option) => isCalled(option, word, locale));
  if (!spec) throw new Error(`/${command.name} has no option "${word}".`);
  return spec;
}
