import type { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import type { Message } from "./messages.ts";
import { type BotAccount, type Channel, isDirect, snowflake, type World } from "./world.ts";

export const intents = {
  guilds: 1 << 0,
  guildMessages: 1 << 9,
  directMessages: 1 << 12,
  messageContent: 1 << 15,
} as const;

/** What a connected client is, as far as it matters for what it is told. */
interface Listener {
  readonly bot: BotAccount;
  readonly intents: number;
  /** Which part of the servers it carries, and of how many; the first one carries the direct chats. */
  readonly shard: readonly [id: number, count: number];
}

interface Session extends Listener {
  readonly id: string;
  /** Everything dispatched so far, for RESUME; index + 1 is the sequence number. */
  readonly log: { readonly t: string; readonly d: unknown }[];
  socket: WebSocket | undefined;
}

/** What a session is told of an event; undefined = it does not see it. */
type View = (session: Listener) => unknown;

const identifyForm = z.object({
  token: z.string(),
  intents: z.number().int(),
  shard: z.tuple([z.number().int().min(0), z.number().int().min(1)]).default([0, 1]),
});

const opcodes = z.discriminatedUnion("op", [
  z.object({ op: z.literal(1) }),
  z.object({ op: z.literal(2), d: identifyForm }),
  z.object({ op: z.literal(6), d: z.object({ token: z.string(), session_id: z.string(), seq: z.number() }) }),
  z.object({ op: z.literal(8), d: z.object({ guild_id: z.string(), nonce: z.string().optional() }) }),
  z.object({ op: z.literal(3) }),
  z.object({ op: z.literal(4) }),
]);

/** The gateway: sessions that identify, are dropped, and resume where they were. */
export class Gateway {
  /** Whether the application page allows the privileged MessageContent intent. */
  allowMessageContent = true;
  /** How many shards may identify within five seconds. */
  maxConcurrency = 1;
  url = "";
  readonly #world: World;
  readonly #events: EventEmitter;
  readonly #sessions = new Map<string, Session>();
  readonly #sockets: WebSocketServer;

  constructor(world: World, server: Server, events: EventEmitter) {
    this.#world = world;
    this.#events = events;
    this.#sockets = new WebSocketServer({ server, path: "/gateway" });
    this.#sockets.on("connection", (socket) => this.#greet(socket));
  }

  /** Sends an event to every session that sees it; sessions without a connection get it when they resume. */
  dispatch(type: string, view: View): void {
    for (const session of this.#sessions.values()) {
      const payload = view(session);
      if (payload !== undefined) this.#push(session, type, payload);
    }
  }

  dispatchMessage(type: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: Message): void {
    const channel = this.#world.channel(message.channel_id);
    this.dispatch(type, (session) => {
      if (!sees(session, channel)) return undefined;
      const shown = mayRead(session, channel, message) ? message : { ...message, ...blank };
      if (isDirect(channel)) return { ...shown, channel_type: channel.type };
      const member = { ...this.#world.member(message.author), user: undefined };
      const inGuild = { ...shown, channel_type: channel.type, guild_id: this.#world.guildId };
      return message.webhook_id === undefined ? { ...inGuild, member } : inGuild;
    });
  }

  /** One message, or several at once, are gone from a room. */
  dispatchRemoved(channel: Channel, ids: readonly string[]): void {
    const place = { channel_id: channel.id, ...(channel.guild_id ? { guild_id: channel.guild_id } : {}) };
    const [type, what] =
      ids.length === 1 ? ["MESSAGE_DELETE", { id: ids[0] }] : ["MESSAGE_DELETE_BULK", { ids }];
    this.dispatch(type, (session) => (sees(session, channel) ? { ...what, ...place } : undefined));
  }

  /** Tells sessions with the Guilds intent about a room. */
  dispatchChannel(type: string, channel: Channel): void {
    this.dispatch(type, (session) =>
      session.intents & intents.guilds && carries(session, channel) ? channel : undefined,
    );
  }

  /** An interaction goes to the shard of its room, whatever the intents. */
  dispatchInteraction(bot: BotAccount, channel: Channel, payload: object): void {
    this.dispatch("INTERACTION_CREATE", (session) =>
      session.bot === bot && carries(session, channel) ? payload : undefined,
    );
  }

  get connected(): number {
    return [...this.#sessions.values()].filter((session) => session.socket).length;
  }

  /** Closes every connection. With 4000 clients resume. */
  drop(code: number): void {
    for (const session of this.#sessions.values()) {
      session.socket?.close(code);
      session.socket = undefined;
    }
  }

  /** The next RESUME is refused, so clients have to identify again. */
  forgetSessions(): void {
    for (const session of this.#sessions.values()) session.socket?.close(4000);
    this.#sessions.clear();
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
  }

  #greet(socket: WebSocket): void {
    send(socket, { op: 10, d: { heartbeat_interval: 41_250 } });
    socket.on("message", (raw) => {
      const request = opcodes.safeParse(JSON.parse(String(raw)));
      if (request.success) this.#answer(socket, request.data);
      else socket.close(4002, "Error while decoding payload.");
      this.#events.emit("change");
    });
    socket.on("close", (code) => this.#lost(socket, code));
  }

  #answer(socket: WebSocket, request: z.infer<typeof opcodes>): void {
    // Presence (3) and voice (4) updates have no answer.
    if (request.op === 1) send(socket, { op: 11 });
    if (request.op === 2) this.#identify(socket, request.d);
    if (request.op === 6) this.#resume(socket, request.d);
    if (request.op === 8) this.#sendMembers(socket, request.d);
  }

  #identify(socket: WebSocket, asked: z.infer<typeof identifyForm>): void {
    const bot = this.#world.bots.find(({ token }) => token === asked.token);
    const wantsContent = (asked.intents & intents.messageContent) !== 0;
    if (!bot || (wantsContent && !this.allowMessageContent)) {
      socket.close(bot ? 4014 : 4004, bot ? "Disallowed intent(s)." : "Authentication failed.");
      return;
    }
    if (asked.shard[0] >= asked.shard[1]) {
      socket.close(4010, "Invalid shard.");
      return;
    }
    const session: Session = { ...asked, id: snowflake(), bot, log: [], socket };
    const hasGuild = shardOf(this.#world.guildId, asked.shard[1]) === asked.shard[0];
    this.#sessions.set(session.id, session);
    this.#push(session, "READY", {
      v: 10,
      user: bot.user,
      guilds: hasGuild ? [{ id: this.#world.guildId, unavailable: true }] : [],
      session_id: session.id,
      resume_gateway_url: this.url,
      shard: asked.shard,
      application: { id: bot.applicationId, flags: 0 },
    });
    if (hasGuild && asked.intents & intents.guilds) this.#push(session, "GUILD_CREATE", this.#world.guild());
  }

  #resume(socket: WebSocket, asked: { token: string; session_id: string; seq: number }): void {
    const session = this.#sessions.get(asked.session_id);
    if (!session || session.bot.token !== asked.token) {
      send(socket, { op: 9, d: false });
      return;
    }
    if (asked.seq > session.log.length) {
      socket.close(4007, "Invalid seq.");
      return;
    }
    session.socket = socket;
    for (let s = asked.seq + 1; s <= session.log.length; s += 1) send(socket, dispatchOf(session, s));
    this.#push(session, "RESUMED", {});
  }

  #sendMembers(socket: WebSocket, asked: { guild_id: string; nonce?: string | undefined }): void {
    const session = [...this.#sessions.values()].find((candidate) => candidate.socket === socket);
    if (!session) {
      socket.close(4003, "Not authenticated.");
      return;
    }
    const members = [...this.#world.users.values()].map((user) => this.#world.member(user));
    this.#push(session, "GUILD_MEMBERS_CHUNK", { ...asked, members, chunk_index: 0, chunk_count: 1 });
  }

  #push(session: Session, t: string, d: unknown): void {
    session.log.push({ t, d });
    if (session.socket) send(session.socket, dispatchOf(session, session.log.length));
  }

  /** A client that says goodbye with 1000 or 1001 ends its session; any other loss leaves it open for RESUME. */
  #lost(socket: WebSocket, code: number): void {
    for (const session of this.#sessions.values()) {
      if (session.socket !== socket) continue;
      session.socket = undefined;
      if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
    }
    this.#events.emit("change");
  }
}

const blank = { content: "", attachments: [], embeds: [], components: [] };

function shardOf(guildId: string, count: number): number {
  return Number((BigInt(guildId) >> 22n) % BigInt(count));
}

function carries({ bot, shard: [id, count] }: Listener, channel: Channel): boolean {
  if (!isDirect(channel)) return shardOf(channel.guild_id ?? "0", count) === id;
  return channel.bot_id === bot.user.id && id === 0;
}

function sees(session: Listener, channel: Channel): boolean {
  const wanted = isDirect(channel) ? intents.directMessages : intents.guildMessages;
  return carries(session, channel) && (session.intents & wanted) !== 0;
}

function mayRead(session: Listener, channel: Channel, message: Message): boolean {
  const botId = session.bot.user.id;
  const concerned = message.author.id === botId || message.mentions.some(({ id }) => id === botId);
  return isDirect(channel) || concerned || (session.intents & intents.messageContent) !== 0;
}

function dispatchOf(session: Session, s: number): object {
  return { op: 0, s, ...session.log[s - 1] };
}

function send(socket: WebSocket, payload: object): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(payload));
}
