import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { type Command, Commands } from "./discord/commands.ts";
import { componentRows, idOfButton } from "./discord/components.ts";
import { Faults } from "./discord/faults.ts";
import { Gateway } from "./discord/gateway.ts";
import {
  commandData,
  interactionPayload,
  type Place,
  pressData,
  type SlashOptions,
  typingData,
  type UseOptions,
} from "./discord/interaction-payload.ts";
import { editAnswer, Interactions, messageFrom, type SlashCall } from "./discord/interactions.ts";
import { checkMessage } from "./discord/message-form.ts";
import { type Message, Messages, type NewMessage, type SentMessage } from "./discord/messages.ts";
import { type RecordedRequest, restListener } from "./discord/rest.ts";
import { routes } from "./discord/routes.ts";
import { type Channel, channelTypes, type User, World } from "./discord/world.ts";

interface SayOptions {
  readonly in?: Channel;
  readonly by?: User;
  readonly replyTo?: { readonly id: string };
  /** A reply mentions the author replied to unless the person switched that off. */
  readonly mentionReplied?: boolean;
  /** Further fields of the message object: attachments, webhook_id, type, … */
  readonly fields?: NewMessage["fields"];
}

/**
 * A local Discord (REST v10 and gateway v10, JSON) with one guild, for any client: point its REST root at `restUrl`.
 * It refuses what Discord refuses. `until` waits for what a bot does; nothing needs a sleep.
 */
export async function startDiscord(options: { port?: number } = {}): Promise<DiscordStandin> {
  const standin = new DiscordStandin();
  await standin.listen(options.port ?? 0);
  return standin;
}

export class DiscordStandin {
  readonly requests: RecordedRequest[] = [];
  readonly typing: string[] = [];
  readonly faults = new Faults();
  readonly world = new World();
  readonly gateway: Gateway;
  readonly bot = this.world.addBot("Agent Bot");
  readonly owner = this.world.addUser("Olga");
  readonly general = this.world.addChannel("general", channelTypes.text);
  readonly direct = this.world.addDirect(this.bot, this.owner);
  readonly #messages = new Messages(this.world);
  readonly #interactions = new Interactions();
  readonly #commands = new Map<string, Commands>();
  readonly #events = new EventEmitter();
  readonly #server: Server;

  constructor() {
    this.#server = createServer();
    this.gateway = new Gateway(this.world, this.#server, this.#events);
    const service = {
      world: this.world,
      gateway: this.gateway,
      messages: this.#messages,
      interactions: this.#interactions,
      commandsOf: (applicationId: string, guildId?: string) => this.#commandsOf(applicationId, guildId),
      typing: this.typing,
    };
    const { world, faults, requests } = this;
    const listener = restListener({
      world,
      faults,
      requests,
      routes: routes(service),
      events: this.#events,
    });
    this.#server.on("request", listener);
    this.#events.setMaxListeners(0);
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    this.gateway.url = `ws://127.0.0.1:${this.port}/gateway`;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  }

  /** The value for discord.js' `rest.api`, without the version. */
  get restUrl(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  async close(): Promise<void> {
    this.gateway.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Every message that a bot got stored, in order. */
  get sent(): readonly SentMessage[] {
    return this.#messages.sent;
  }

  addUser(name: string): User {
    return this.world.addUser(name);
  }

  addChannel(name: string, type: number = channelTypes.text): Channel {
    const channel = this.world.addChannel(name, type);
    this.gateway.dispatchChannel("CHANNEL_CREATE", channel);
    return channel;
  }

  /** `announced: false`: a thread that clients have never been told about. */
  addThread(parent: Channel, name: string, options: { type?: number; announced?: boolean } = {}): Channel {
    const thread = this.world.addThread(parent.id, name, this.owner, options);
    if (options.announced !== false) this.gateway.dispatchChannel("THREAD_CREATE", thread);
    return thread;
  }

  /** Archives a thread; a locked one refuses messages. */
  archive(thread: Channel, { locked = false } = {}): void {
    if (!thread.thread_metadata) throw new Error(`Channel ${thread.id} is no thread.`);
    Object.assign(thread.thread_metadata, { archived: true, locked });
    this.gateway.dispatchChannel("THREAD_UPDATE", thread);
  }

  /** Somebody posts: a person by default, a bot or a webhook when told so. */
  say(content: string, options: SayOptions = {}): Message {
    const message = this.#messages.add({
      author: options.by ?? this.owner,
      channelId: (options.in ?? this.general).id,
      content,
      ...(options.replyTo ? { replyToId: options.replyTo.id } : {}),
      mentionReplied: options.mentionReplied ?? true,
      ...(options.fields ? { fields: options.fields } : {}),
    });
    this.gateway.dispatchMessage("MESSAGE_CREATE", message);
    return message;
  }

  edit(message: Message, content: string): Message {
    const edited = this.#messages.edit(message.channel_id, message.id, content);
    this.gateway.dispatchMessage("MESSAGE_UPDATE", edited);
    return edited;
  }

  /** Somebody removes messages of one room; several at once are one event. */
  remove(...messages: readonly [Message, ...Message[]]): void {
    const [{ channel_id: roomId }] = messages;
    for (const { id } of messages) this.#messages.remove(roomId, id);
    this.gateway.dispatchRemoved(
      this.world.channel(roomId),
      messages.map(({ id }) => id),
    );
  }

  /** A person calls a registered command, by its name or as the person's client shows it; the call shows what the bot answers. */
  slash(name: string, options: SlashOptions = {}): SlashCall {
    const data = commandData(this.#registered(name, options), options);
    return this.#use("command", options, data);
  }

  /** A person types words into an option of a registered command. */
  type(name: string, option: string, typed: string, options: SlashOptions = {}): SlashCall {
    return this.#use(
      "typing",
      options,
      typingData(this.#registered(name, options), option, typed, options.locale),
    );
  }

  /** A person presses a button below an answer that the bot gave to `call`. */
  pressAnswer(call: SlashCall, label: string, options: UseOptions = {}): SlashCall {
    const answer = call.answers.findLast(({ components }) => components.length > 0);
    if (!answer) throw new Error("No answer to the call has buttons.");
    const data = pressData(messageFrom(call, answer), idOfButton(answer.components, label));
    const room = { in: this.world.channel(call.channelId), bot: call.bot };
    return this.#use("press", { ...room, ...options }, data, (body) => editAnswer(call, answer, body));
  }

  /** A person presses a button below a message in the room. */
  press({ id }: { readonly id: string }, label: string, options: UseOptions = {}): SlashCall {
    const room = options.in ?? this.general;
    const message = this.#messages.get(room.id, id);
    const data = pressData(message, idOfButton(componentRows.parse(message.components), label));
    return this.#use("press", options, data, (body) => {
      const edited = this.#messages.edit(room.id, id, checkMessage(body).text);
      this.gateway.dispatchMessage("MESSAGE_UPDATE", edited);
      return edited;
    });
  }

  #registered(name: string, { bot = this.bot, ofGuild = false, locale }: SlashOptions): Command {
    const command = this.commands(bot, ofGuild).find(name, locale);
    if (!command) throw new Error(`No command /${name} is registered, so nobody can call it.`);
    return command;
  }

  #use(
    kind: SlashCall["kind"],
    options: UseOptions,
    data: object,
    editPressed?: SlashCall["editPressed"],
  ): SlashCall {
    const { bot = this.bot, by = this.owner, in: channel = this.general, locale = "en-US" } = options;
    const call = this.#interactions.open({
      kind,
      channelId: channel.id,
      bot,
      ...(editPressed ? { editPressed } : {}),
    });
    const place: Place = { world: this.world, channel, by, locale };
    this.gateway.dispatchInteraction(bot, channel, interactionPayload(call, place, data));
    return call;
  }

  /** The registered commands of a bot: global, or those of the guild. */
  commands(bot = this.bot, ofGuild = false): Commands {
    return this.#commandsOf(bot.applicationId, ofGuild ? this.world.guildId : undefined);
  }

  /** Resolves as soon as the condition holds; looks again after everything that a client does. */
  async until(condition: () => boolean, what: string, timeoutMs = 5000): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#events.emit("change");
    }, timeoutMs);
    try {
      while (!condition()) {
        if (isLate) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`);
        await once(this.#events, "change");
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #commandsOf(applicationId: string, guildId?: string): Commands {
    const key = `${applicationId} ${guildId ?? "global"}`;
    const commands = this.#commands.get(key) ?? new Commands(applicationId, guildId);
    this.#commands.set(key, commands);
    return commands;
  }
}
