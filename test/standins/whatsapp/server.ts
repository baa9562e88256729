import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { type BinaryNode, getBinaryNodeChild, type proto, type SignalCreds } from "@whiskeysockets/baileys";
import { WebSocketServer } from "ws";
import { ClientConnection } from "./connection.ts";
import type { LinkedDevice } from "./creds.ts";
import { Directory, type Group, type GroupOptions } from "./directory.ts";
import { type Content, type Said, type SayOptions, saidBy, typedBy } from "./inbound-stanza.ts";
import { Inbox } from "./inbox.ts";
import { makeServerIdentity } from "./noise.ts";
import { isDeliverable, openMessage, type Sent, toSent } from "./outbound-stanza.ts";
import type { Person, PersonOptions } from "./person.ts";
import { answerQuery, nameOf } from "./queries.ts";
import {
  ack,
  groupRenamed,
  memberAdded,
  offlineDone,
  retryRequest,
  streamError,
  success,
} from "./server-stanza.ts";

const LONGEST_TEXT = 65_536;

/**
 * A WhatsApp on 127.0.0.1 with one linked device, for a real Baileys socket: `waWebSocketUrl: server.url`.
 * It keeps what the service keeps: people with Signal identities, groups, and messages until the device has
 * acknowledged them, over any number of connections and client processes.
 */
export class WhatsAppServer {
  /** What the device sent, in order, each message id once. */
  readonly sent: Sent[] = [];
  /** Ids that were sent again after the server had stored them. */
  readonly repeated: string[] = [];
  /** Chats that saw "typing…". */
  readonly typing: string[] = [];
  /** Ids of refused messages, with the error code of the refusal. */
  readonly refused: { readonly id: string; readonly error: string }[] = [];
  /** Ids of messages that no phone could read at first. */
  readonly askedAgain: string[] = [];
  /** What the device asked, as `<namespace>/<question> <whom>`. */
  readonly queries: string[] = [];
  /** true: receipts get lost, so everything said is delivered again at the next login. */
  loseReceipts = false;

  readonly device: LinkedDevice;
  readonly #directory: Directory;
  readonly #identity = makeServerIdentity();
  readonly #changes = new EventEmitter();
  readonly #inbox = new Inbox((node) => this.#connection?.send(node));
  readonly #faults: ("before storing" | "after storing" | { readonly error: string } | undefined)[] = [];
  #listener: WebSocketServer | undefined;
  #port = 0;
  #connection: ClientConnection | undefined;
  #online = false;
  #loggedOut = false;
  #defects: unknown[] = [];

  constructor(device: LinkedDevice = { phone: "15550001111", lid: "990000000000001", device: 5 }) {
    this.device = device;
    this.#directory = new Directory(device);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}/ws/chat`;
  }

  /** The person whose phone the bot's device is linked to. */
  get owner(): Person {
    return this.#directory.owner;
  }

  /** The device is logged in and gets what is said at once. */
  get online(): boolean {
    return this.#online;
  }

  /** Starts to listen; after `stop` again on the same port, with everything still known. */
  async start(): Promise<this> {
    const listener = new WebSocketServer({ host: "127.0.0.1", port: this.#port });
    await once(listener, "listening");
    // A TCP listener has an AddressInfo.
    this.#port = (listener.address() as AddressInfo).port;
    listener.on("connection", (socket) => {
      new ClientConnection(socket, this.#identity, {
        onLogin: (payload, connection) => this.#onLogin(payload, connection),
        onNode: (node, connection) => this.#onNode(node, connection),
        onClose: (connection) => this.#onClose(connection),
        onError: (error) => this.#defects.push(error),
      });
    });
    this.#listener = listener;
    return this;
  }

  /** Unreachable: open connections drop, new ones are refused. */
  async stop(): Promise<void> {
    for (const client of this.#listener?.clients ?? []) client.terminate();
    await new Promise((resolve) => (this.#listener ? this.#listener.close(resolve) : resolve(undefined)));
    this.#listener = undefined;
    if (this.#defects.length > 0) throw new AggregateError(this.#defects, "the WhatsApp stand-in failed");
  }

  addPerson(options: PersonOptions): Person {
    return this.#directory.addPerson(options);
  }

  /** The account is a member besides `members`. */
  addGroup(options: GroupOptions): Group {
    return this.#directory.addGroup(options);
  }

  /** Tells the server the public keys of its device, as pairing would have done; needed for `encrypted`. */
  linkDevice(keys: SignalCreds): void {
    this.#inbox.deviceKeys = keys;
  }

  /** Resolves with the id once the message is on its way, or queued until the device comes back. */
  async say(person: Person, content: Content, options: SayOptions = {}): Promise<string> {
    return this.#accept(saidBy(person, content, options));
  }

  /** What the account's owner types on the phone; without a chat: in the chat with oneself. */
  async typeOnPhone(
    content: Content,
    chat: Person | Group = this.owner,
    options: SayOptions = {},
  ): Promise<string> {
    return this.#accept(typedBy(this.owner, chat, content, options));
  }

  /** Delivers a message once more, acknowledged or not. */
  async repeat(id: string): Promise<void> {
    await this.#inbox.deliver(id);
  }

  renameGroup(group: Group, subject: string, by: Person): void {
    group.subject = subject;
    this.#connection?.send(groupRenamed(group, by));
  }

  /** From now on nobody is told about it. */
  forgetGroup(group: Group): void {
    this.#directory.forgetGroup(group);
  }

  addMember(group: Group, member: Person, by: Person): void {
    group.members = [...group.members, member];
    this.#connection?.send(memberAdded(group, member, by));
  }

  /** After so many more messages, one is refused with this error code instead of being stored. */
  refuseNext(error: string, afterMessages = 0): void {
    this.#faults.push(...Array<undefined>(afterMessages), { error });
  }

  /** After so many more messages the connection breaks: before one is stored, or after and without an answer. */
  dropAtNext(moment: "before storing" | "after storing", afterMessages = 0): void {
    this.#faults.push(...Array<undefined>(afterMessages), moment);
  }

  /** Ends the connection: "lost" without a word, else with a stream error of that code (401 unlinks the device). */
  disconnect(code: "lost" | 401 | 403 | 411 | 440 | 500 | 503 | 515): void {
    if (code === 401) this.#loggedOut = true;
    if (code !== "lost") this.#connection?.send(streamError(code));
    this.#connection?.drop();
  }

  /** Waits until the condition holds; it is looked at whenever the server has done something. */
  async until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!condition()) await once(this.#changes, "change", { signal });
  }

  #onLogin(payload: proto.ClientPayload, connection: ClientConnection): void {
    const { phone, device } = this.device;
    const known = payload.username?.toString() === phone && payload.device === device;
    if (!known || this.#loggedOut) {
      connection.send({ tag: "failure", attrs: { reason: "401" } });
      return;
    }
    this.#connection?.send(streamError(440));
    this.#connection?.drop();
    this.#connection = connection;
    this.#online = false;
    connection.send(success(this.device));
    this.#changed();
  }

  async #onNode(node: BinaryNode, connection: ClientConnection): Promise<void> {
    if (connection !== this.#connection) return;
    if (node.tag === "iq" && node.attrs.type !== "result") await this.#onQuery(node, connection);
    if (node.tag === "message") await this.#onMessage(node, connection);
    if (node.tag === "chatstate" && node.attrs.to) this.typing.push(node.attrs.to);
    if (node.tag === "receipt" || (node.tag === "ack" && node.attrs.class === "message"))
      await this.#onReceipt(node);
    this.#changed();
  }

  async #onQuery(iq: BinaryNode, connection: ClientConnection): Promise<void> {
    this.queries.push(nameOf(iq));
    connection.send(await answerQuery(iq, this.#directory));
    if (iq.attrs.xmlns !== "passive" || !getBinaryNodeChild(iq, "active")) return;
    this.#online = true;
    connection.send(offlineDone(await this.#inbox.deliverMissed()));
  }

  async #onMessage(node: BinaryNode, connection: ClientConnection): Promise<void> {
    const { id = "", to = "" } = node.attrs;
    if (this.sent.some((earlier) => earlier.id === id && earlier.to === to)) {
      this.repeated.push(id);
      connection.send(ack(node));
      return;
    }
    const fault = this.#faults.shift();
    if (fault === "before storing") return connection.drop();
    const { message, readBy } = await openMessage(node, this.#directory);
    const error = typeof fault === "object" ? fault.error : this.#objection(node, message);
    if (error) {
      this.refused.push({ id, error });
      connection.send(ack(node, error));
      return;
    }
    if (!message) return connection.send(this.#askAgain(node));
    this.sent.push(toSent(node, message, readBy));
    if (fault === "after storing") return connection.drop();
    connection.send(ack(node));
  }

  #objection(node: BinaryNode, message: proto.IMessage | undefined): string | undefined {
    if (!isDeliverable(node, this.#directory)) return "404";
    const group = this.#directory.group(node.attrs.to);
    // Written for members under addresses that the group does not use any more.
    if (group && node.attrs.addressing_mode !== group.addressing) return "421";
    return (message?.extendedTextMessage?.text?.length ?? 0) > LONGEST_TEXT ? "406" : undefined;
  }

  async #onReceipt({ attrs }: BinaryNode): Promise<void> {
    if (attrs.type === "retry") return this.#inbox.retry(attrs.id);
    if (!this.loseReceipts) this.#inbox.acknowledge(attrs.id);
  }

  async #accept(said: Said): Promise<string> {
    const id = this.#inbox.put(said);
    if (this.#online) await this.#inbox.deliver(id);
    return id;
  }

  #askAgain(node: BinaryNode): BinaryNode {
    this.askedAgain.push(node.attrs.id ?? "");
    const group = this.#directory.group(node.attrs.to);
    const reader = group?.members.find((member) => member !== this.owner);
    return retryRequest(node, group && reader?.jid(group.addressing));
  }

  #onClose(connection: ClientConnection): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#online = false;
    this.#changed();
  }

  #changed(): void {
    this.#changes.emit("change");
  }
}
