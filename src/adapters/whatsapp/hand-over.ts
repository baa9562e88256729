import { LRUCache } from "lru-cache";
import { messageOf } from "../../core/errors.ts";
import type { AdapterHost, Address, InboundMessage, MessageChange } from "../../core/ports/chat.ts";
import type { Clock } from "../../core/ports/host.ts";
import { Lanes } from "../lanes.ts";
import type { Groups } from "./groups.ts";
import {
  type InboundContext,
  type Route,
  routeOf,
  senderOf,
  toChange,
  toInbound,
  trueType,
} from "./inbound.ts";
import { bareJid, isGroupJid, isLidJid, isPair, phoneNumber } from "./jid.ts";
import type { Link } from "./link.ts";
import type { OwnTexts } from "./own-texts.ts";
import type { People } from "./people.ts";
import type {
  LidEvents,
  LidPair,
  QuotedMessage,
  UpsertType,
  WhatsAppEvents,
  WhatsAppMessage,
} from "./socket.ts";

const MOST_RECENT = 1000;

export interface HandOverOptions {
  readonly accountId: string;
  readonly replayAfterMs: number;
  readonly clock: Clock;
  readonly people: People;
  readonly groups: Groups;
  readonly ownTexts: OwnTexts;
}

interface Remembered {
  readonly from: Address;
  readonly senderId: string;
  readonly quote: QuotedMessage;
}

interface Heard {
  readonly message: WhatsAppMessage;
  readonly route: Route;
  readonly context: InboundContext;
  readonly link: Link;
}

/** Brings what happens on the sockets to the host: one message at a time and in order within a chat. */
export class HandOver {
  readonly #options: HandOverOptions;
  readonly #lanes = new Lanes();
  /** Messages that the host has accepted: for quoting them, for believing an edit, and against repeats. */
  readonly #recent = new LRUCache<string, Remembered>({ max: MOST_RECENT });
  /** LIDs whose missing phone number was logged. */
  readonly #nameless = new LRUCache<string, true>({ max: MOST_RECENT });
  #host: AdapterHost | undefined;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  start(host: AdapterHost): void {
    this.#host = host;
  }

  /** To be called when nothing listens any more. What has arrived is still handed over before this resolves: Baileys does not bring it again. */
  async stop(): Promise<void> {
    const host = this.#host;
    await this.#lanes.idle();
    if (this.#host === host) this.#host = undefined;
  }

  /** Listens on a socket; the returned function ends that. */
  listen(link: Link): () => void {
    const { ev } = link.socket;
    // The type of an emitter of Baileys 6 does not know this event.
    const lidEvents = ev as unknown as LidEvents;
    const onUpsert = ({ messages, type }: WhatsAppEvents["messages.upsert"]) => {
      for (const message of messages) this.#take(message, type, link);
    };
    const onMapping = ({ lid, pn }: LidPair) => {
      const [one, other] = [bareJid(lid), bareJid(pn)];
      if (one && other && isPair(one, other)) this.#inOrder(one, () => this.join(one, other));
    };
    ev.on("messages.upsert", onUpsert);
    lidEvents.on("lid-mapping.update", onMapping);
    const stopGroups = this.#options.groups.listen(link);
    return () => {
      stopGroups();
      ev.off("messages.upsert", onUpsert);
      lidEvents.off("lid-mapping.update", onMapping);
    };
  }

  /** A message to quote; undefined when it is not among the recent ones. */
  quote(from: Address, id: string): QuotedMessage | undefined {
    return this.#recent.get(this.#recentKey({ from, id }))?.quote;
  }

  /** Two addresses are one person: the host is told, if that is news. */
  async join(one: string, other: string): Promise<void> {
    if (!this.#host || !this.#options.people.join(one, other)) return;
    const [lid, phone] = isLidJid(one) ? [one, other] : [other, one];
    await this.#host.onSamePerson("whatsapp", phoneNumber(phone), lid);
  }

  #take(message: WhatsAppMessage, given: UpsertType, link: Link): void {
    const { accountId, replayAfterMs, clock, people } = this.#options;
    const me = ownAddresses(link);
    const type = trueType(message, given, link.openSinceMs());
    const route = routeOf(message.key, { me, type });
    // Without content: a system notice, or a message that could not be decrypted and will come again.
    if (!route || !message.message) return;
    const context = {
      accountId,
      me,
      type,
      answerSinceMs: clock.now() - replayAfterMs,
      nameOf: (jid: string) => people.nameOf(jid),
    };
    this.#inOrder(this.#laneOf(route), (host) => this.#handOver({ message, route, context, link }, host));
  }

  async #handOver({ message, route, context, link }: Heard, host: AdapterHost): Promise<void> {
    const whole = await this.#withAlternative(route, host, link);
    const change = toChange(message, whole, context.accountId);
    if (change) return this.#change(host, change, whole);
    const inbound = toInbound(message, whole, context);
    if (!inbound || (message.key.fromMe && this.#isEcho(inbound))) return;
    const { people, groups } = this.#options;
    if (whole.alternative) await this.join(whole.author, whole.alternative);
    if (this.#recent.get(this.#recentKey(inbound))?.senderId === inbound.sender.id) return;
    if (whole.chat === whole.author) people.heard(whole.author);
    if (inbound.sender.name) people.named(whole.author, inbound.sender.name);
    const chatTitle = isGroupJid(whole.chat) ? await groups.title(whole.chat, link) : undefined;
    const acceptance = await host.onMessage(chatTitle ? { ...inbound, chatTitle } : inbound);
    if (acceptance !== "failed") this.#remember(whole, inbound);
  }

  /** A bot's message in the account's chat with itself is the account's own, also when it was sent before a restart. */
  #isEcho({ id, text, sender }: InboundMessage): boolean {
    // Asked in any case: an echo uses its text up.
    const isOwn = this.#options.ownTexts.isOwn(id, text);
    return sender.isBot || isOwn;
  }

  /** Only the author may change a message, and only a message that is remembered can tell its author. */
  async #change(host: AdapterHost, change: MessageChange, { author, alternative }: Route): Promise<void> {
    const original = this.#recent.get(this.#recentKey(change));
    if (original?.senderId !== senderOf(author, alternative).id) return;
    await host.onMessageChanged({ ...change, from: original.from });
  }

  async #withAlternative(route: Route, host: AdapterHost, link: Link): Promise<Route> {
    const alternative = route.alternative ?? (await this.#options.people.otherAddress(route.author, link));
    if (alternative && isPair(route.author, alternative)) return { ...route, alternative };
    if (isLidJid(route.author) && !this.#nameless.has(route.author)) {
      this.#nameless.set(route.author, true);
      host.logger.info(
        { lid: route.author },
        "WhatsApp does not tell the phone number of this LID: to make this person an owner, list the LID",
      );
    }
    return route;
  }

  /** The id is the sender's choice: a copied one does not take the place of the first author's message. */
  #remember({ chat, author }: Route, message: InboundMessage): void {
    if (this.#recent.has(this.#recentKey(message))) return;
    const key = { remoteJid: chat, id: message.id, fromMe: false, participant: author } as const;
    const quote = { key, message: { conversation: message.text } };
    const { from, sender } = message;
    this.#recent.set(this.#recentKey(message), { from, senderId: sender.id, quote });
  }

  /** One lane for a person, whichever address a message comes from. */
  #laneOf({ chat, author, alternative }: Route): string {
    const isDirectFromLid = chat === author && isLidJid(chat);
    return (isDirectFromLid && alternative) || this.#options.people.idOf(chat);
  }

  /** The same for both addresses of a person. */
  #recentKey({ from, id }: Pick<InboundMessage, "from" | "id">): string {
    return `${this.#options.people.idOf(from.chatId)}|${id}`;
  }

  #inOrder(lane: string, work: (host: AdapterHost) => Promise<void>): void {
    const host = this.#host;
    if (!host) return;
    this.#lanes
      .run(lane, () => work(host))
      .catch((error) =>
        host.logger.error({ reason: messageOf(error) }, "A WhatsApp message could not be handed over"),
      );
  }
}

/** Bare addresses of the account on this socket. */
export function ownAddresses({ socket }: Link): readonly string[] {
  return [bareJid(socket.user?.id), bareJid(socket.user?.lid)].filter((jid) => jid !== undefined);
}
