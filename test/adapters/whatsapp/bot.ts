import { EventEmitter, once } from "node:events";
import type { WASocket } from "@whiskeysockets/baileys";
import {
  type Machine,
  type WhatsAppAdapter,
  type WhatsAppOptions,
  whatsappAdapter,
} from "../../../src/adapters/whatsapp/index.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import { RecordingHost } from "../../contracts/adapter-harness.ts";
import { connectWhatsApp } from "../../standins/whatsapp/connect.ts";
import { memoryAuth } from "../../standins/whatsapp/creds.ts";

import { Group } from "../../standins/whatsapp/directory.ts";
import { BAILEYS_7, type Library } from "../../standins/whatsapp/library.ts";
import type { Person } from "../../standins/whatsapp/person.ts";
import { WhatsAppServer } from "../../standins/whatsapp/server.ts";

/**
 * A bot as people write it: a `connect()` that makes a socket, attaches the adapter, and is called again when the
 * connection closes.
 */
export class Bot {
  readonly server = new WhatsAppServer();
  readonly alice = this.server.addPerson({ name: "Alice", phone: "15550002222", lid: "990000000000002" });
  readonly bob = this.server.addPerson({ name: "Bob", phone: "15550003333", lid: "990000000000003" });
  adapter: WhatsAppAdapter;
  readonly host = new RecordingHost();
  /** The socket in use; a new promise as soon as the last one has closed. */
  connected: Promise<WASocket> = new Promise(() => {});
  reconnects = true;
  readonly #sockets: WASocket[] = [];
  readonly #listeners: { readonly event: string; readonly listener: unknown }[] = [];
  readonly #auth = memoryAuth(this.server.device);
  readonly #heard = new Set<string>();
  readonly #ears = new EventEmitter();

  readonly #library: Library;
  #socket: WASocket | undefined;
  #detach = () => {};

  constructor(library: Library = BAILEYS_7, options?: WhatsAppOptions, machine?: Machine) {
    this.#library = library;
    this.adapter = whatsappAdapter({ gentle: false, ...options }, machine);
  }

  async run(): Promise<this> {
    await this.server.start();
    await this.connect();
    return this;
  }

  connect(): Promise<WASocket> {
    this.connected = connectWhatsApp(this.server, {
      library: this.#library,
      auth: this.#auth,
      config: { cachedGroupMetadata: (jid) => this.adapter.cachedGroupMetadata(jid) },
      attach: (socket) => {
        this.#watch(socket);
        this.#socket = socket;
        this.#detach = this.adapter.attach(socket);
      },
    });
    this.connected.catch(() => "whoever awaits it sees the error");
    return this.connected;
  }

  /** Another adapter on the same socket, in place of the one so far; not started. */
  restart(): WhatsAppAdapter {
    this.#detach();
    this.adapter = whatsappAdapter({ gentle: false, accountId: this.adapter.accountId });
    if (this.#socket) this.#detach = this.adapter.attach(this.#socket);
    return this.adapter;
  }

  /** How many listeners are registered on all sockets so far, of whomever. */
  get listeners(): number {
    const acks = this.#sockets.map(({ ws }) => ws.listenerCount("CB:ack,class:message"));
    return acks.reduce((sum, count) => sum + count, this.#listeners.length);
  }

  /** Alice reads what is sent there; whoever else may speak there has left since, for each reader costs time. */
  group(subject: string, addressing: "pn" | "lid" = "pn"): Group {
    const id = `12036300000000${String(subject.length).padStart(4, "0")}`;
    return this.server.addGroup({ id, subject, members: [this.alice], addressing });
  }

  addressOf(chat: Group | Person, addressing: "pn" | "lid" = "pn"): Address {
    const place = { channel: "whatsapp", accountId: this.adapter.accountId };
    return chat instanceof Group
      ? { ...place, chatType: "group", chatId: chat.jid }
      : { ...place, chatType: "direct", chatId: chat.jid(addressing) };
  }

  /** Resolves once Baileys has given this message to its listeners. */
  async heard(id: string): Promise<void> {
    if (!this.#heard.has(id)) await once(this.#ears, id);
  }

  send(to: Address, markdown: string, more: object = {}, signal = new AbortController().signal) {
    return this.adapter.send(to, { deliveryId: `delivery of ${markdown}`, markdown, ...more }, signal);
  }

  async close(): Promise<void> {
    this.reconnects = false;
    await this.adapter.stop();
    await this.connected.then(
      (socket) => socket.end(undefined),
      () => "there is no socket to end",
    );
    await this.server.stop();
  }

  #watch(socket: WASocket): void {
    this.#sockets.push(socket);
    const { on, off } = socket.ev;
    socket.ev.on = (event, listener) => {
      this.#listeners.push({ event, listener });
      on(event, listener);
    };
    socket.ev.off = (event, listener) => {
      const index = this.#listeners.findIndex((one) => one.event === event && one.listener === listener);
      if (index >= 0) this.#listeners.splice(index, 1);
      off(event, listener);
    };
    socket.ev.on("messages.upsert", ({ messages }) => {
      for (const { key } of messages) {
        this.#heard.add(key.id ?? "");
        this.#ears.emit(key.id ?? "");
      }
    });
    socket.ev.on("connection.update", ({ connection }) => {
      if (connection === "close" && this.reconnects) this.connect().catch(() => "seen in `connected`");
    });
  }
}
