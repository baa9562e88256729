import { messageOf } from "../../core/errors.ts";
import type {
  AdapterHost,
  Address,
  ChannelAdapter,
  DeliveryReceipt,
  OutboundMessage,
} from "../../core/ports/chat.ts";
import { secretsOf } from "./credentials.ts";
import { HandOver, ownAddresses } from "./hand-over.ts";
import { bareJid, isPhoneJid, phoneNumber } from "./jid.ts";
import { createLink, type Link } from "./link.ts";
import { renderWhatsApp } from "./outbound.ts";
import { createOwnTexts } from "./own-texts.ts";
import { createPeople } from "./people.ts";
import { sendParts } from "./send.ts";
import type { WhatsAppSocket } from "./socket.ts";

export type { WhatsAppSocket } from "./socket.ts";

/** WhatsApp takes far more; longer messages are folded behind "Read more" and hard to quote. */
const MAX_TEXT_LENGTH = 4000;

export interface WhatsAppOptions {
  /** Tells several WhatsApp accounts of one switchboard apart. Default "default". */
  readonly accountId?: string;
  /**
   * Messages that waited longer than this while the bot was offline are recorded, not answered, and no command in them is
   * obeyed. Milliseconds, default 10 minutes.
   */
  readonly replayAfterMs?: number;
}

export interface WhatsAppAdapter extends ChannelAdapter {
  /**
   * Puts the adapter on a Baileys socket. Call it in your `connect()` right after `makeWASocket`, again for every new socket: the
   * newest one counts, the listeners of the one before are removed. The same socket again does nothing. The returned
   * function takes the adapter off this socket. The socket stays yours: login, saved credentials and reconnects.
   */
  attach(socket: WhatsAppSocket): () => void;
}

export function whatsappAdapter(options: WhatsAppOptions = {}): WhatsAppAdapter {
  return new BaileysAdapter(options);
}

class BaileysAdapter implements WhatsAppAdapter {
  readonly channel = "whatsapp";
  readonly accountId: string;
  readonly maxTextLength = MAX_TEXT_LENGTH;
  /** A message id is taken once, for good. */
  readonly repeatableForMs = Number.POSITIVE_INFINITY;
  readonly #people = createPeople();
  readonly #ownTexts = createOwnTexts();
  readonly #handOver: HandOver;
  #host: AdapterHost | undefined;
  #link: Link | undefined;
  #stopListening = () => {};

  constructor({ accountId = "default", replayAfterMs = 10 * 60_000 }: WhatsAppOptions) {
    this.accountId = accountId;
    this.#handOver = new HandOver({
      accountId,
      replayAfterMs,
      people: this.#people,
      ownTexts: this.#ownTexts,
    });
  }

  attach(socket: WhatsAppSocket): () => void {
    if (this.#link?.socket !== socket) {
      this.#unlink(this.#link);
      this.#link = createLink(socket, () => this.#host?.onReady());
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
        beforePart: (id, text) => isSelfChat && this.#ownTexts.add(id, text),
      },
      signal,
    );
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
