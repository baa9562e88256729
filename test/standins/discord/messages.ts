import { refuse } from "./api-error.ts";
import type { ComponentRows } from "./components.ts";
import { type AllowedMentions, checkMessage, mentionedIds, pingsOf } from "./message-form.ts";
import { type BotAccount, isForum, isThread, snowflake, type User, type World } from "./world.ts";

export interface Message {
  readonly id: string;
  readonly channel_id: string;
  readonly author: User;
  readonly content: string;
  readonly type: number;
  readonly mentions: readonly User[];
  readonly mention_roles: readonly string[];
  readonly attachments: readonly object[];
  readonly referenced_message?: Message | null;
  readonly webhook_id?: string;
  readonly [field: string]: unknown;
}

/** A bot's message as it was stored, with what the bot asked for. */
export interface SentMessage {
  readonly id: string;
  readonly botId: string;
  readonly channelId: string;
  readonly content: string;
  readonly nonce: string | number | undefined;
  readonly allowedMentions: AllowedMentions | null | undefined;
  /** Id of the message it replies to. */
  readonly reference: string | undefined;
  readonly components: ComponentRows;
  /** Everybody whom it would have notified. */
  readonly pings: readonly string[];
}

export interface NewMessage {
  readonly author: User;
  readonly channelId: string;
  readonly content: string;
  readonly replyToId?: string;
  /** Whether a reply also mentions the author replied to. */
  readonly mentionReplied?: boolean;
  /** Any other field of the message object, as it should appear on the wire. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The stored messages of all rooms, oldest first. */
export class Messages {
  readonly sent: SentMessage[] = [];
  readonly #stored = new Map<string, Message>();
  /** author and nonce → message, for `enforce_nonce`. */
  readonly #byNonce = new Map<string, Message>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  get(channelId: string, id: string): Message {
    this.#world.channel(channelId);
    const message = this.#stored.get(id);
    if (message?.channel_id !== channelId) throw refuse.unknownMessage();
    return message;
  }

  list(channelId: string): Message[] {
    this.#world.channel(channelId);
    return [...this.#stored.values()].filter((message) => message.channel_id === channelId).reverse();
  }

  add({ author, channelId, content, replyToId, mentionReplied = false, fields = {} }: NewMessage): Message {
    const replied = replyToId === undefined ? undefined : (this.#stored.get(replyToId) ?? null);
    const mentioned = mentionedIds(content, /<@!?(\d+)>/g).flatMap((id) => this.#world.users.get(id) ?? []);
    if (replied && mentionReplied && !mentioned.includes(replied.author)) mentioned.push(replied.author);
    const reference = { type: 0, channel_id: channelId, message_id: replyToId };
    const message: Message = {
      ...plainMessage,
      id: snowflake(),
      channel_id: channelId,
      author,
      content,
      type: replyToId === undefined ? 0 : 19,
      timestamp: new Date().toISOString(),
      mentions: mentioned,
      mention_roles: mentionedIds(content, /<@&(\d+)>/g),
      mention_everyone: /@(everyone|here)\b/.test(content),
      ...(replied === undefined ? {} : { message_reference: reference, referenced_message: replied }),
      ...fields,
    };
    this.#stored.set(message.id, message);
    return message;
  }

  /** A bot's request to post. `isNew` is false when `enforce_nonce` found the message that is already there. */
  post(bot: BotAccount, channelId: string, body: unknown): { message: Message; isNew: boolean } {
    const room = this.#world.channel(channelId);
    if (isForum(room)) throw refuse.notTextChannel();
    if (isThread(room) && room.thread_metadata?.locked) {
      throw room.thread_metadata.archived ? refuse.threadArchived() : refuse.threadLocked();
    }
    const form = checkMessage(body);
    const nonceKey = `${bot.user.id} ${form.nonce}`;
    const existing = form.nonce !== undefined && form.enforce_nonce ? this.#byNonce.get(nonceKey) : undefined;
    if (existing) return { message: existing, isNew: false };

    const reference = this.#referenceOf(channelId, form.message_reference);
    const message = this.add({
      author: bot.user,
      channelId,
      content: form.text,
      ...(reference === undefined ? {} : { replyToId: reference }),
      fields: {
        nonce: form.nonce,
        flags: form.flags ?? 0,
        embeds: form.embeds ?? [],
        components: form.components ?? [],
      },
    });
    if (form.nonce !== undefined) this.#byNonce.set(nonceKey, message);
    this.sent.push({
      id: message.id,
      botId: bot.user.id,
      channelId,
      content: form.text,
      nonce: form.nonce,
      allowedMentions: form.allowed_mentions,
      reference,
      components: form.components ?? [],
      pings: pingsOf(form.text, form.allowed_mentions, reference !== undefined),
    });
    return { message, isNew: true };
  }

  edit(channelId: string, id: string, content: string): Message {
    const edited = { ...this.get(channelId, id), content, edited_timestamp: new Date().toISOString() };
    this.#stored.set(id, edited);
    return edited;
  }

  remove(channelId: string, id: string): void {
    this.get(channelId, id);
    this.#stored.delete(id);
  }

  #referenceOf(channelId: string, wanted?: { message_id: string; fail_if_not_exists?: boolean | undefined }) {
    if (!wanted) return undefined;
    if (this.#stored.get(wanted.message_id)?.channel_id === channelId) return wanted.message_id;
    if (wanted.fail_if_not_exists === false) return undefined;
    throw refuse.invalidForm("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message");
  }
}

/** The fields that an ordinary message leaves empty. */
export const plainMessage = {
  edited_timestamp: null,
  tts: false,
  mention_everyone: false,
  attachments: [],
  embeds: [],
  pinned: false,
  components: [],
  flags: 0,
};
