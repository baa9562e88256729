import { LRUCache } from "lru-cache";
import { messageOf } from "../../core/errors.ts";
import type { AdapterHost, Address, InboundMessage, MessageChange } from "../../core/ports/chat.ts";
import { type InboundContext, type Route, routeOf, senderOf, toChange, toInbound } from "./inbound.ts";
import { bareJid, isGroupJid, isLidJid, isPair, phoneNumber } from "./jid.ts";
import type { Link } from "./link.ts";
import type { OwnTexts } from "./own-texts.ts";
import type { People } from "./people.ts";
import type { GroupUpdate, QuotedMessage, WhatsAppEvents, WhatsAppMessage } from "./socket.ts";

const MOST_GROUPS = 1000;
const MOST_RECENT = 1000;

export interface HandOverOptions {
  readonly accountId: string;
  readonly replayAfterMs: number;
  readonly people: People;
  readonly ownTexts: OwnTexts;
}

/** Brings what happens on the sockets to the host: one message at a time and in order within a chat. */
export class HandOver {
  readonly #options: HandOverOptions;
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #titles = new LRUCache<string, string>({ max: MOST_GROUPS });
  /** Messages that the host has accepted: for quoting them, for believing an edit, and against repeats. */
  readonly #recent = new LRUCache<string, { readonly senderId: string; readonly quote: QuotedMessage }>({
    max: MOST_RECENT,
  });
  /** LIDs whose missing phone number was logged. */
  readonly #nameless = new LRUCache<string, true>({ max: MOST_RECENT });
  #host: AdapterHost | undefined;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  start(host: AdapterHost): void {
    this.#host = host;
  }

  /** Resolves when the host has finished with what it was given; it is not called again. */
  async stop(): Promise<void> {
    this.#host = undefined;
    await Promise.all(this.#lanes.values());
  }

  /** Listens on a socket; the returned function ends that. */
  listen(link: Link): () => void {
    const { ev } = link.socket;
    const onUpsert = ({ messages, type }: WhatsAppEvents["messages.upsert"]) => {
      for (const message of messages) this.#take(message, type, link);
    };
    const onGroups = (groups: readonly GroupUpdate[]) => {
      for (const { id, subject } of groups) if (id && subject) this.#titles.set(id, subject);
    };
    const onMapping = ({ lid, pn }: WhatsAppEvents["lid-mapping.update"]) => {
      const [one, other] = [bareJid(lid), bareJid(pn)];
      if (one && other && isPair(one, other)) this.#inOrder(one, (host) => this.#join(host, one, other));
    };
    ev.on("messages.upsert", onUpsert);
    ev.on("groups.upsert", onGroups);
    ev.on("groups.update", onGroups);
    ev.on("lid-mapping.update", onMapping);
    return () => {
      ev.off("messages.upsert", onUpsert);
      ev.off("groups.upsert", onGroups);
      ev.off("groups.update", onGroups);
      ev.off("lid-mapping.update", onMapping);
    };
  }

  /** A message to quote; undefined when it is not among the recent ones. */
  quote(from: Address, id: string): QuotedMessage | undefined {
    return this.#recent.get(recentKey({ from, id }))?.quote;
  }

  #take(message: WhatsAppMessage, type: WhatsAppEvents["messages.upsert"]["type"], link: Link): void {
    const me = ownAddresses(link);
    const route = routeOf(message.key, { me, type });
    // Without content: a system notice, or a message that could not be decrypted and will come again.
    if (!route || !message.message) return;
    const { accountId, replayAfterMs } = this.#options;
    const context = { accountId, me, type, answerSinceMs: Date.now() - replayAfterMs };
    this.#inOrder(route.chat, (host) => this.#handOver(host, message, route, context, link));
  }

  async #handOver(
    host: AdapterHost,
    message: WhatsAppMessage,
    route: Route,
    context: InboundContext,
    link: Link,
  ): Promise<void> {
    const whole = await this.#withAlternative(route, host, link);
    const change = toChange(message, whole, context.accountId);
    if (change) return this.#change(host, change, whole);
    const inbound = toInbound(message, whole, context);
    if (!inbound || (message.key.fromMe && this.#options.ownTexts.isOwn(inbound.id, inbound.text))) return;
    if (this.#recent.get(recentKey(inbound))?.senderId === inbound.sender.id) return;
    if (whole.alternative) await this.#join(host, whole.author, whole.alternative);
    if (whole.chat === whole.author) this.#options.people.heard(whole.author);
    const chatTitle = await this.#titleOf(whole.chat, link);
    const acceptance = await this.#stillOn(host)?.onMessage(chatTitle ? { ...inbound, chatTitle } : inbound);
    if (acceptance && acceptance !== "failed") this.#remember(whole, inbound);
  }

  /** Only the author may change a message, and only a message that is remembered can tell its author. */
  async #change(host: AdapterHost, change: MessageChange, { author, alternative }: Route): Promise<void> {
    const original = this.#recent.get(recentKey(change));
    if (original?.senderId !== senderOf(author, alternative).id) return;
    await this.#stillOn(host)?.onMessageChanged(change);
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

  async #join(host: AdapterHost, one: string, other: string): Promise<void> {
    if (!this.#options.people.join(one, other)) return;
    const [lid, phone] = isLidJid(one) ? [one, other] : [other, one];
    await this.#stillOn(host)?.onSamePerson("whatsapp", phoneNumber(phone), lid);
  }

  async #titleOf(chat: string, link: Link): Promise<string | undefined> {
    if (!isGroupJid(chat)) return undefined;
    const known = this.#titles.get(chat);
    if (known !== undefined) return known;
    const title = await link.groupTitle(chat);
    if (title) this.#titles.set(chat, title);
    return title;
  }

  #remember({ chat, author }: Route, message: InboundMessage): void {
    const key = { remoteJid: chat, id: message.id, fromMe: false, participant: author } as const;
    const quote = { key, message: { conversation: message.text } };
    this.#recent.set(recentKey(message), { senderId: message.sender.id, quote });
  }

  #inOrder(lane: string, work: (host: AdapterHost) => Promise<void>): void {
    const host = this.#host;
    if (!host) return;
    const previous = this.#lanes.get(lane) ?? Promise.resolve();
    const next = previous
      .then(() => this.#stillOn(host) && work(host))
      .catch((error) =>
        host.logger.error({ reason: messageOf(error) }, "A WhatsApp message could not be handed over"),
      )
      .finally(() => {
        if (this.#lanes.get(lane) === next) this.#lanes.delete(lane);
      });
    this.#lanes.set(lane, next);
  }

  /** The host, unless the adapter was stopped meanwhile. */
  #stillOn(host: AdapterHost): AdapterHost | undefined {
    return this.#host === host ? host : undefined;
  }
}

function recentKey({ from, id }: Pick<InboundMessage, "from" | "id">): string {
  return `${from.chatId}|${id}`;
}

/** Bare addresses of the account on this socket. */
export function ownAddresses({ socket }: Link): readonly string[] {
  return [bareJid(socket.user?.id), bareJid(socket.user?.lid)].filter((jid) => jid !== undefined);
}
