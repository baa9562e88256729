import type { GroupMetadata } from "@whiskeysockets/baileys";
import { LRUCache } from "lru-cache";
import { systemClock } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type {
  AdapterHost,
  Address,
  ChannelAdapter,
  DeliveryReceipt,
  InboundMessage,
  OutboundMessage,
} from "../../core/ports/chat.ts";
import type { Clock } from "../../core/ports/host.ts";
import { secretsOf } from "./credentials.ts";
import { Groups } from "./groups.ts";
import { HandOver, ownAddresses } from "./hand-over.ts";
import { bareJid, isGroupJid, isPhoneJid, phoneNumber } from "./jid.ts";
import { createLink, type Link } from "./link.ts";
import { renderWhatsApp } from "./outbound.ts";
import { createOwnTexts } from "./own-texts.ts";
import { createPace, noPace, type Pace } from "./pace.ts";
import { createPeople } from "./people.ts";
import { sendParts } from "./send.ts";
import type { WhatsAppSocket } from "./socket.ts";

export type { WhatsAppSocket } from "./socket.ts";

/** WhatsApp takes far more; longer messages are folded behind "Read more" and hard to quote. */
const MAX_TEXT_LENGTH = 4000;
const MOST_POSTS = 5000;
/** New chats are refused, also those under an address that its owner has left behind. */
const REACH_OUT_REFUSED = 463;

export interface WhatsAppOptions {
  /** Tells several WhatsApp accounts of one switchboard apart. Default "default". */
  readonly accountId?: string;
  /**
   * Messages that waited longer than this while the bot was offline are recorded, not answered, and no command in them is
   * obeyed. Milliseconds, default 10 minutes.
   */
  readonly replayAfterMs?: number;
  /**
   * Bursts leave slowly: after five messages in a row one every 0.5–1 s, at random. Default true, because WhatsApp closes accounts
   * that write faster than people do.
   */
  readonly gentle?: boolean;
}

/** Time and chance, for tests. */
export interface Machine {
  readonly clock: Clock;
  /** 0 to 1. */
  random(): number;
}

export interface WhatsAppAdapter extends ChannelAdapter {
  /**
   * Puts the adapter on a Baileys socket. Call it in your `connect()` right after `makeWASocket`, again for every new socket: the
   * newest one counts, the listeners of the one before are removed. The same socket again does nothing. The returned
   * function takes the adapter off this socket. The socket stays yours: login, saved credentials and reconnects.
   */
  attach(socket: WhatsAppSocket): () => void;
  /**
   * What the adapter knows of a group, for the option of the same name of `makeWASocket`: without it Baileys asks the server before
   * each message to a group, which WhatsApp soon limits.
   */
  cachedGroupMetadata(jid: string): Promise<GroupMetadata | undefined>;
}

export function whatsappAdapter(
  options: WhatsAppOptions = {},
  machine: Machine = { clock: systemClock, random: Math.random },
): WhatsAppAdapter {
  return new BaileysAdapter(options, machine);
}

class BaileysAdapter implements WhatsAppAdapter {
  readonly channel = "whatsapp";
  readonly accountId: string;
  readonly maxTextLength = MAX_TEXT_LENGTH;
  /** A message id is taken once, for good. */
  readonly repeatableForMs = Number.POSITIVE_INFINITY;
  readonly #people = createPeople();
  readonly #clock: Clock;
  readonly #groups: Groups;
  readonly #pace: Pace;
  readonly #ownTexts = createOwnTexts();
  readonly #posts = new LRUCache<string, true>({ max: MOST_POSTS });
  readonly #handOver: HandOver;
  #host: AdapterHost | undefined;
  #link: Link | undefined;
  #stopListening = () => {};

  constructor(options: WhatsAppOptions, { clock, random }: Machine) {
    const { accountId = "default", replayAfterMs = 10 * 60_000, gentle = true } = options;
    this.accountId = accountId;
    this.#clock = clock;
    this.#groups = new Groups(clock);
    this.#pace = gentle ? createPace(clock, random) : noPace;
    this.#handOver = new HandOver({
      accountId,
      replayAfterMs,
      clock,
      people: this.#people,
      groups: this.#groups,
      ownTexts: this.#ownTexts,
    });
  }

  attach(socket: WhatsAppSocket): () => void {
    if (this.#link?.socket !== socket) {
      this.#unlink(this.#link);
      this.#link = createLink(socket, this.#clock, {
        onOpen: () => this.#host?.onReady(),
        onLockedOut: (reason) =>
          this.#host?.logger.error({}, `${reason} Deliveries wait until a socket is open.`),
      });
      this.#listen();
      if (this.#link.isOpen()) this.#host?.onReady();
    }
    const link = this.#link;
    return () => this.#unlink(link);
  }

  async start(host: AdapterHost): Promise<void> {
    if (this.#host) return;
    this.#host = host;
    this.#handOver.start(host);
    this.#listen();
  }

  async stop(): Promise<void> {
    this.#host = undefined;
    this.#stopListening();
    // By now nothing new arrives.
    await this.#handOver.stop();
  }

  async send(to: Address, message: OutboundMessage, signal: AbortSignal): Promise<DeliveryReceipt> {
    const parts = renderWhatsApp(message.markdown, MAX_TEXT_LENGTH);
    const jid = await this.#addressFor(to);
    const isSelfChat = this.#me().includes(jid);
    const quoted = message.replyToId ? this.#handOver.quote(to, message.replyToId) : undefined;
    return sendParts(
      parts,
      message,
      {
        jid,
        quoted,
        link: () => this.#link,
        turn: (until) => this.#pace.turn(until),
        mend: (code) => this.#mend(jid, code),
        beforePart: (id, text) => {
          this.#posts.set(id, true);
          if (isSelfChat) this.#ownTexts.add(id, text);
        },
      },
      signal,
    );
  }

  /** By id: a person may write on the phone of the same account. */
  hasPosted({ id }: InboundMessage): boolean {
    return this.#posts.has(id);
  }

  sharesIds({ chatType }: Address): boolean {
    return chatType === "group";
  }

  secrets(): readonly string[] {
    return secretsOf(this.#link?.socket.authState?.creds);
  }

  ownIds(): readonly string[] {
    return this.#me().map((jid) => (isPhoneJid(jid) ? phoneNumber(jid) : jid));
  }

  async setTyping(at: Address): Promise<void> {
    if (!this.#link?.isOpen()) return;
    const { socket } = this.#link;
    await socket.sendPresenceUpdate("composing", await this.#addressFor(at)).catch((error: unknown) => {
      this.#host?.logger.debug({ reason: messageOf(error) }, "WhatsApp did not take the typing notice");
    });
  }

  async cachedGroupMetadata(jid: string): Promise<GroupMetadata | undefined> {
    // It is what this very Baileys has answered, kept whole.
    return (await this.#groups.metadata(jid, this.#link)) as GroupMetadata | undefined;
  }

  /** A refusal can come from what was known about members or addresses; then the next try goes by what is known now. */
  async #mend(jid: string, code: number): Promise<boolean> {
    if (isGroupJid(jid)) this.#groups.forgetMembers(jid);
    if (code !== REACH_OUT_REFUSED || !isPhoneJid(jid)) return false;
    const lid = await this.#people.otherAddress(jid, this.#link);
    if (lid === undefined) return false;
    await this.#handOver.join(jid, lid);
    this.#people.heard(lid);
    return true;
  }

  async #addressFor({ chatId }: Address): Promise<string> {
    const jid = bareJid(chatId) ?? chatId;
    if (this.#me().includes(jid)) return jid;
    return this.#people.answerAt(jid, this.#link);
  }

  #me(): readonly string[] {
    return this.#link ? ownAddresses(this.#link) : [];
  }

  #listen(): void {
    this.#stopListening();
    if (this.#host && this.#link) this.#stopListening = this.#handOver.listen(this.#link);
  }

  #unlink(link: Link | undefined): void {
    link?.detach();
    if (!link || this.#link !== link) return;
    this.#stopListening();
    this.#link = undefined;
  }
}
