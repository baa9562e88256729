import type { Chat, MaybeInaccessibleMessage, Message, Update, User, UserFromGetMe } from "grammy/types";
import { ApiError, badRequest } from "./api-error.ts";
import { ApiServer, type Call } from "./api-server.ts";
import { type CallbackAnswer, CallbackQueries } from "./callback-queries.ts";
import { CommandMenus } from "./command-menus.ts";
import type { Failure } from "./failures.ts";
import { BotMessages, checkedText, type SentMessage } from "./messages.ts";
import { jsonOf, numberOf, type Payload, textOf } from "./payload.ts";
import { ANN, People, type SayOptions } from "./people.ts";
import { privateChat, type Room, Rooms } from "./rooms.ts";
import { type NewUpdate, UpdateQueue } from "./update-queue.ts";
import { Watch } from "./watch.ts";
import { Webhook } from "./webhook.ts";
import { type WhisperedAnswer, Whispers } from "./whispers.ts";

/**
 * A Bot API server for one bot, on 127.0.0.1: what Telegram would refuse, it refuses too. Point any client's API root at
 * `apiRoot` and use `token`.
 */
export class TelegramStandIn {
  readonly token = "123456:stand-in-token";
  /** What getMe answers; change fields to switch abilities on and off. */
  readonly bot: UserFromGetMe = {
    id: 123456,
    is_bot: true,
    first_name: "Agent",
    username: "agent_test_bot",
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  };
  readonly menus = new CommandMenus((chatId) => this.#rooms.find(chatId) !== undefined);

  readonly #rooms = new Rooms(() => this.bot);
  readonly #messages = new BotMessages(this.#rooms, () => this.bot);
  readonly #people = new People(this.#rooms);
  readonly #whispers = new Whispers(this.#rooms);
  readonly #updates = new UpdateQueue(() => this.#watch.check());
  readonly #webhook: Webhook = new Webhook(this.#updates, {
    onReply: (reply) => this.#server.call(textOf(reply, "method"), reply),
    onFailure: () => this.#watch.check(),
  });
  readonly #queries = new CallbackQueries();
  readonly #watch = new Watch();
  readonly #server: ApiServer = new ApiServer({
    token: this.token,
    onChange: () => this.#watch.check(),
    methods: {
      getMe: () => this.bot,
      getUpdates: (payload, gone) => this.#getUpdates(payload, gone),
      setWebhook: (payload) => this.#webhook.set(payload),
      deleteWebhook: (payload) => this.#deleteWebhook(payload),
      getWebhookInfo: () => this.#webhook.info(),
      sendMessage: (payload) => this.#whispers.answer(payload, checkedText) ?? this.#messages.send(payload),
      sendRichMessage: (payload) => this.#messages.sendRich(payload),
      editMessageText: (payload) => this.#messages.edit(payload),
      sendChatAction: (payload) => this.#sendChatAction(payload),
      createForumTopic: (payload) => this.#createForumTopic(payload),
      getChat: (payload) => this.#rooms.writable(textOf(payload, "chat_id")).chat,
      setMyCommands: (payload) => this.menus.set(payload),
      getMyCommands: (payload) => this.menus.get(payload),
      deleteMyCommands: (payload) => this.menus.delete(payload),
      answerCallbackQuery: (payload) => this.#queries.answer(payload),
    },
  });

  static async start(port = 0): Promise<TelegramStandIn> {
    const standIn = new TelegramStandIn();
    await standIn.#server.listen(port);
    return standIn;
  }

  get apiRoot(): string {
    return this.#server.url;
  }

  /** Every call but getUpdates, in the order of arrival. */
  get calls(): readonly Call[] {
    return this.#server.calls;
  }

  /** The bot's messages, in the order in which they were stored. */
  get sent(): readonly SentMessage[] {
    return this.#messages.sent;
  }

  async close(): Promise<void> {
    this.#updates.release();
    await this.#server.close();
  }

  /** Somebody writes. In privacy mode a group's small talk is stored, but the bot does not get it. */
  say(text: string, options: SayOptions = {}): Message {
    const { message, update } = this.#people.say(text, options);
    if (!this.#isPrivateTalk(message)) this.push(update);
    return message;
  }

  /** Somebody picks a command that only the bot is shown. */
  whisper(text: string, chat: Chat, from: User = ANN, more: Partial<Message> = {}): void {
    const { message } = this.#people.say(text, { chat, from, more });
    this.push({
      message: { ...message, from, chat, ...this.#whispers.open(from, chat.id) } as Message &
        Update.NonChannel,
    });
  }

  /** What the bot answered to nobody but the person who whispered. */
  get whispered(): readonly WhisperedAnswer[] {
    return this.#whispers.answers;
  }

  edit(message: Message, text: string): void {
    this.push(this.#people.edit(message, text));
  }

  /** Somebody presses a button under a message of the bot. "unseen": too old for the bot to be shown it again. */
  press(data: string, message: Message, from: User = ANN, seen: "seen" | "unseen" = "seen"): void {
    const { chat, message_id } = message;
    const shown: MaybeInaccessibleMessage = seen === "seen" ? message : { chat, message_id, date: 0 };
    this.push({ callback_query: this.#queries.open({ from, data, message: shown }) });
  }

  /** Like `press`, by label, on a message as it is now. */
  tap(
    label: string,
    messageId: number,
    chat: Chat,
    from: User = ANN,
    seen: "seen" | "unseen" = "seen",
  ): void {
    const message = this.messageNow(messageId, chat);
    const button = message.reply_markup?.inline_keyboard.flat().find(({ text }) => text === label);
    if (!button || !("callback_data" in button)) throw new Error(`There is no button ${label} to tap.`);
    this.press(button.callback_data, message, from, seen);
  }

  /** A message of the bot with every edit. */
  messageNow(messageId: number, chat: Chat): Message {
    return this.#messages.stored({ chat }, { message_id: messageId });
  }

  /** Somebody deletes a message of the bot. */
  deleteMessage(message: Message): void {
    this.#messages.delete(message);
  }

  /** What people saw after they had pressed buttons, in order of the answers. */
  get callbackAnswers(): readonly CallbackAnswer[] {
    return this.#queries.answers;
  }

  push(body: NewUpdate): Update {
    const update = this.#updates.push(body);
    this.#webhook.retry();
    return update;
  }

  /** Makes a chat known without anybody writing in it. */
  room(chat: Chat): Room {
    return this.#rooms.add(chat);
  }

  /** A person opened the bot's private chat, so that the bot may write first. */
  opened(user: User): Room {
    return this.#rooms.add(privateChat(user));
  }

  /** A basic group becomes a supergroup with a new id. Telegram tells the bot in both chats, unless it misses one of them, or both. */
  migrate(
    oldId: number,
    newId: number,
    told: readonly ("old" | "new")[] = ["old", "new"],
  ): Chat.SupergroupChat {
    const old = this.#rooms.find(String(oldId));
    if (old?.chat.type !== "group") throw new Error(`There is no basic group ${oldId} to migrate.`);
    const chat: Chat.SupergroupChat = { id: newId, type: "supergroup", title: old.chat.title };
    this.#rooms.add(chat);
    const there = this.#people.say("", { chat: old.chat, more: { migrate_to_chat_id: newId } });
    const here = this.#people.say("", { chat, more: { migrate_from_chat_id: oldId } });
    if (told.includes("old")) this.push(there.update);
    if (told.includes("new")) this.push(here.update);
    old.movedTo = newId;
    return chat;
  }

  /** The next call of `method`, after `skip` more that work, goes wrong once. */
  failNext(method: string, failure: Failure, skip = 0): void {
    this.#server.failures.add(method, failure, skip);
  }

  /** The server is older than this method. */
  forget(method: string): void {
    this.#server.unknown.add(method);
  }

  /** Updates that the bot has not confirmed. */
  get pending(): readonly Update[] {
    return this.#updates.pending;
  }

  /** A bot waits for updates right now. */
  get isPolled(): boolean {
    return this.#updates.isPolled;
  }

  /** What went wrong at the last webhook delivery that failed. */
  get webhookError(): string {
    return this.#webhook.lastError;
  }

  /** Tries a webhook again that answered with an error. */
  retryWebhook(): void {
    this.#webhook.retry();
  }

  /** Resolves once the bot has confirmed every update that there is now. */
  settled(): Promise<void> {
    const last = this.#updates.pending.at(-1)?.update_id ?? 0;
    return this.until(
      () => this.pending.every(({ update_id }) => update_id > last),
      "the bot confirmed its updates",
    );
  }

  /** Resolves as soon as `condition` holds; rejects when nothing makes it true for five seconds. */
  until(condition: () => boolean, what: string): Promise<void> {
    return this.#watch.until(condition, what);
  }

  #getUpdates(payload: Payload, gone: AbortSignal): Promise<readonly Update[]> {
    if (this.#webhook.isSet) {
      const advice =
        "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
      throw new ApiError(409, `Conflict: ${advice}`);
    }
    const allowed = jsonOf(payload, "allowed_updates");
    if (Array.isArray(allowed)) this.#updates.allow(allowed);
    const {
      offset = 0,
      limit = 100,
      timeout = 0,
    } = Object.fromEntries(["offset", "limit", "timeout"].map((key) => [key, numberOf(payload, key)]));
    return this.#updates.poll({ offset, limit, timeoutS: timeout }, gone);
  }

  #deleteWebhook(payload: Payload): true {
    if (jsonOf(payload, "drop_pending_updates") === true) this.#updates.confirm(() => true);
    return this.#webhook.set({});
  }

  #sendChatAction(payload: Payload): true {
    const room = this.#rooms.writable(textOf(payload, "chat_id"));
    if (room.chat.type === "channel") throw badRequest("chat actions are not supported in channels");
    this.#rooms.topicOf(room, numberOf(payload, "message_thread_id"), "typing");
    return true;
  }

  #createForumTopic(payload: Payload): object {
    const room = this.#rooms.writable(textOf(payload, "chat_id"));
    const name = textOf(payload, "name");
    return { message_thread_id: this.#rooms.createTopic(room, name), name, icon_color: 0x6fb9f0 };
  }

  /** Privacy mode: in groups a bot gets commands, mentions and replies to itself only. */
  #isPrivateTalk({ chat, text = "", reply_to_message }: Message): boolean {
    if (this.bot.can_read_all_group_messages || chat.type === "private" || chat.type === "channel")
      return false;
    const isMeant = text.startsWith("/") || text.includes(`@${this.bot.username}`);
    return !isMeant && reply_to_message?.from?.id !== this.bot.id;
  }
}
