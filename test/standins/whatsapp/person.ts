import {
  addTransactionCapability,
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  KEY_BUNDLE_TYPE,
  proto,
  type SignalCreds,
  unpadRandomMax16,
  xmppPreKey,
  xmppSignedPreKey,
} from "@whiskeysockets/baileys";
import pino from "pino";
import { memoryKeys } from "./creds.ts";

export type Addressing = "pn" | "lid";

export interface PersonOptions {
  readonly name: string;
  /** Digits of the phone number. */
  readonly phone: string;
  /** Digits of the LID. */
  readonly lid: string;
}

/** The name under which every person files the sessions with the bot: one label, whatever the chat's addressing. */
const BOT = "15550000000:1@s.whatsapp.net";
const silent = pino({ level: "silent" });

/** Someone on WhatsApp: a phone with its own Signal identity, known by a phone number and by a LID. */
export class Person {
  readonly name: string;
  readonly phone: string;
  readonly lid: string;
  readonly #creds = initAuthCreds();
  readonly #keys = addTransactionCapability(memoryKeys(), silent, {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 10,
  });
  readonly #signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: this.#creds, keys: this.#keys },
    silent,
    async () => [],
  );
  #lastPreKeyId = 0;
  #hasSession = false;

  constructor({ name, phone, lid }: PersonOptions) {
    this.name = name;
    this.phone = phone;
    this.lid = lid;
  }

  jid(addressing: Addressing, device = 0): string {
    const suffix = device ? `:${device}` : "";
    return addressing === "lid" ? `${this.lid}${suffix}@lid` : `${this.phone}${suffix}@s.whatsapp.net`;
  }

  /** The keys a client needs to start a session with this person; each call hands out a fresh one-time key. */
  async keyBundle(jid: string): Promise<BinaryNode> {
    const preKeyId = ++this.#lastPreKeyId;
    const preKey = Curve.generateKeyPair();
    await this.#keys.set({ "pre-key": { [preKeyId]: preKey } });
    return {
      tag: "user",
      attrs: { jid },
      content: [
        { tag: "registration", attrs: {}, content: encodeBigEndian(this.#creds.registrationId) },
        { tag: "type", attrs: {}, content: KEY_BUNDLE_TYPE },
        { tag: "identity", attrs: {}, content: this.#creds.signedIdentityKey.public },
        xmppSignedPreKey(this.#creds.signedPreKey),
        xmppPreKey(preKey, preKeyId),
      ],
    };
  }

  async encrypt(message: proto.IMessage, bot: SignalCreds): Promise<BinaryNode> {
    if (!this.#hasSession) await this.#startSession(bot);
    const { type, ciphertext } = await this.#signal.encryptMessage({
      jid: BOT,
      data: encodeWAMessage(message),
    });
    return { tag: "enc", attrs: { v: "2", type }, content: ciphertext };
  }

  /** The next `encrypt` starts a new session, as a phone does that was told "I could not read this". */
  forgetSession(): void {
    this.#hasSession = false;
  }

  async decrypt(enc: BinaryNode): Promise<proto.Message> {
    // The wire format: a one-to-one `enc` is a pkmsg or a msg.
    const type = enc.attrs.type as "pkmsg" | "msg";
    const padded = await this.#signal.decryptMessage({ jid: BOT, type, ciphertext: bytes(enc) });
    const message = proto.Message.decode(unpadRandomMax16(padded));
    const senderKey = message.senderKeyDistributionMessage;
    if (senderKey)
      await this.#signal.processSenderKeyDistributionMessage({ authorJid: BOT, item: senderKey });
    return message;
  }

  async decryptInGroup(group: string, enc: BinaryNode): Promise<proto.Message> {
    const padded = await this.#signal.decryptGroupMessage({ group, authorJid: BOT, msg: bytes(enc) });
    return proto.Message.decode(unpadRandomMax16(padded));
  }

  async #startSession(bot: SignalCreds): Promise<void> {
    const { keyId, keyPair, signature } = bot.signedPreKey;
    await this.#signal.injectE2ESession({
      jid: BOT,
      session: {
        registrationId: bot.registrationId,
        identityKey: generateSignalPubKey(bot.signedIdentityKey.public),
        signedPreKey: { keyId, publicKey: generateSignalPubKey(keyPair.public), signature },
      },
    });
    this.#hasSession = true;
  }
}

function bytes({ content }: BinaryNode): Uint8Array {
  if (!(content instanceof Uint8Array)) throw new Error("WhatsApp stand-in: <enc> without ciphertext");
  return content;
}
