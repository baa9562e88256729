import type { Command } from "./commands.ts";
import type { SlashCall } from "./interactions.ts";
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

/** A command with its options. What a person's client would not let through is an error of the test. */
export function commandData(command: Command, options: Readonly<Record<string, string>>): object {
  const known = command.options ?? [];
  const missing = known.find(({ name, required }) => required && options[name] === undefined);
  if (missing) throw new Error(`A person cannot call /${command.name} without "${missing.name}".`);
  const chosen = Object.entries(options).map(([name, value]) => {
    const spec = optionOf(command, name);
    if (spec.choices?.length && !spec.choices.some((choice) => choice.value === value)) {
      throw new Error(`A person cannot choose "${value}" for "${name}" of /${command.name}.`);
    }
    return { name, type: spec.type, value };
  });
  return { data: { ...identityOf(command), options: chosen } };
}

/** Words in an option that the bot completes. */
export function typingData(command: Command, name: string, typed: string): object {
  const spec = optionOf(command, name);
  if (!spec.autocomplete) throw new Error(`Option "${name}" of /${command.name} has no autocomplete.`);
  return {
    data: { ...identityOf(command), options: [{ name, type: spec.type, value: typed, focused: true }] },
  };
}

export function pressData(message: object, customId: string): object {
  return { message, data: { custom_id: customId, component_type: 2, id: 1 } };
}

function identityOf(command: Command): object {
  const scope = "guild_id" in command ? { guild_id: command.guild_id } : {};
  return { id: command.id, name: command.name, type: 1, ...scope };
}

function optionOf(command: Command, name: string) {
  const spec = command.options?.find((option) => option.name === name);
  if (!spec) throw new Error(`/${command.name} has no option "${name}".`);
  return spec;
}
