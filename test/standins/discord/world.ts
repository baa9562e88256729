import { refuse } from "./api-error.ts";

export interface User {
  readonly id: string;
  readonly username: string;
  readonly global_name: string | null;
  readonly discriminator: string;
  readonly avatar: null;
  readonly bot: boolean;
}

/** One application with its bot user. */
export interface BotAccount {
  readonly token: string;
  readonly applicationId: string;
  readonly user: User;
  /** The managed role that Discord makes for a bot when it joins. */
  readonly roleId: string;
}

export const channelTypes = {
  text: 0,
  direct: 1,
  voice: 2,
  groupDirect: 3,
  announcement: 5,
  announcementThread: 10,
  publicThread: 11,
  privateThread: 12,
  stage: 13,
  forum: 15,
  media: 16,
} as const;

export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly guild_id?: string;
  readonly parent_id?: string | null;
  readonly name?: string;
  readonly recipients?: readonly User[];
  readonly owner_id?: string;
  readonly thread_metadata?: { archived: boolean; locked: boolean; [field: string]: unknown };
  readonly [field: string]: unknown;
}

interface Role {
  readonly id: string;
  readonly name: string;
  readonly tags?: { readonly bot_id: string };
}

const everyPermission = "2248473465835073";
const discordEpoch = 1_420_070_400_000n;
let counter = 0n;

/** An id of the kind that Discord gives: 19 digits, ordered by time. */
export function snowflake(): string {
  counter += 1n;
  return String(((BigInt(Date.now()) - discordEpoch) << 22n) | (counter & 0x3fffffn));
}

export const isThread = (channel: Channel) => channel.type >= 10 && channel.type <= 12;
export const isForum = ({ type }: Channel) => type === channelTypes.forum || type === channelTypes.media;
export const isDirect = (channel: Channel) =>
  channel.type === channelTypes.direct || channel.type === channelTypes.groupDirect;

/** Who and what exists: one guild with its people, roles and rooms, the direct chats, and the bots. */
export class World {
  readonly guildId = snowflake();
  readonly bots: BotAccount[] = [];
  readonly users = new Map<string, User>();
  readonly channels = new Map<string, Channel>();
  readonly #roles: Role[] = [{ id: this.guildId, name: "@everyone" }];
  readonly #rolesOf = new Map<string, string[]>();
  /** Threads that a client is told about in GUILD_CREATE. */
  readonly #announced = new Set<string>();

  addUser(name: string, bot = false): User {
    const username = name.toLowerCase().replaceAll(/\W/g, "");
    const shown = bot ? null : name;
    const user = { id: snowflake(), username, global_name: shown, discriminator: "0", avatar: null, bot };
    this.users.set(user.id, user);
    return user;
  }

  addBot(name: string): BotAccount {
    const user = this.addUser(name, true);
    const role = { id: snowflake(), name, tags: { bot_id: user.id } };
    this.#roles.push(role);
    this.#rolesOf.set(user.id, [role.id]);
    const token = `${Buffer.from(user.id).toString("base64url")}.standin.${counter}`;
    const account = { token, applicationId: user.id, user, roleId: role.id };
    this.bots.push(account);
    return account;
  }

  addRole(name: string, ...holders: readonly User[]): string {
    const role = { id: snowflake(), name };
    this.#roles.push(role);
    for (const { id } of holders) this.#rolesOf.set(id, [...(this.#rolesOf.get(id) ?? []), role.id]);
    return role.id;
  }

  addChannel(name: string, type: number, id = snowflake()): Channel {
    const channel = { id, type, guild_id: this.guildId, name, parent_id: null, ...roomDefaults };
    this.channels.set(channel.id, channel);
    return channel;
  }

  addThread(
    parentId: string,
    name: string,
    by: User,
    options: { type?: number; announced?: boolean; id?: string } = {},
  ) {
    const { type = channelTypes.publicThread, announced = true, id = snowflake() } = options;
    const thread: Channel = {
      id,
      type,
      guild_id: this.guildId,
      parent_id: parentId,
      owner_id: by.id,
      name,
      message_count: 0,
      member_count: 1,
      rate_limit_per_user: 0,
      thread_metadata: {
        archived: false,
        locked: false,
        auto_archive_duration: 1440,
        archive_timestamp: new Date().toISOString(),
      },
    };
    this.channels.set(thread.id, thread);
    if (announced) this.#announced.add(thread.id);
    return thread;
  }

  addDirect(bot: BotAccount, ...people: readonly User[]): Channel {
    const type = people.length > 1 ? channelTypes.groupDirect : channelTypes.direct;
    const channel = { id: snowflake(), type, recipients: people, bot_id: bot.user.id, last_message_id: null };
    this.channels.set(channel.id, channel);
    return channel;
  }

  directWith(bot: BotAccount, userId: string): Channel {
    const user = this.users.get(userId);
    if (!user) throw refuse.unknownUser();
    const known = [...this.channels.values()].find(
      (channel) =>
        channel.type === channelTypes.direct &&
        channel.bot_id === bot.user.id &&
        channel.recipients?.[0]?.id === userId,
    );
    return known ?? this.addDirect(bot, user);
  }

  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (!channel) throw refuse.unknownChannel();
    return channel;
  }

  member(user: User): object {
    const roles = this.#rolesOf.get(user.id) ?? [];
    const joined = { joined_at: new Date().toISOString(), deaf: false, mute: false, flags: 0 };
    return { user, nick: null, avatar: null, roles, permissions: everyPermission, ...joined };
  }

  guild(): object {
    const channels = [...this.channels.values()].filter((channel) => channel.guild_id === this.guildId);
    return {
      ...guildDefaults,
      id: this.guildId,
      name: "Lab",
      owner_id: this.bots[0]?.user.id,
      joined_at: new Date().toISOString(),
      member_count: this.users.size,
      roles: this.#roles.map((role, position) => ({ ...roleDefaults, ...role, position })),
      members: [...this.users.values()].map((user) => this.member(user)),
      channels: channels.filter((channel) => !isThread(channel)),
      threads: channels.filter((channel) => this.#announced.has(channel.id)),
    };
  }
}

const roomDefaults = {
  position: 0,
  permission_overwrites: [],
  nsfw: false,
  topic: null,
  last_message_id: null,
  rate_limit_per_user: 0,
  available_tags: [],
};

const roleDefaults = {
  color: 0,
  colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
  hoist: false,
  permissions: everyPermission,
  managed: false,
  mentionable: false,
  flags: 0,
};

const guildDefaults = {
  icon: null,
  splash: null,
  discovery_splash: null,
  afk_channel_id: null,
  afk_timeout: 300,
  verification_level: 0,
  default_message_notifications: 0,
  explicit_content_filter: 0,
  features: [],
  mfa_level: 0,
  application_id: null,
  system_channel_id: null,
  system_channel_flags: 0,
  rules_channel_id: null,
  vanity_url_code: null,
  description: null,
  banner: null,
  premium_tier: 0,
  preferred_locale: "en-US",
  public_updates_channel_id: null,
  nsfw_level: 0,
  premium_progress_bar_enabled: false,
  large: false,
  unavailable: false,
  emojis: [],
  stickers: [],
  voice_states: [],
  presences: [],
  stage_instances: [],
  guild_scheduled_events: [],
  soundboard_sounds: [],
};
