import type { BinaryNode, SignalCreds } from "@whiskeysockets/baileys";
import { damage, plaintext, type Said } from "./inbound-stanza.ts";

/** Everything said to the device, kept until acknowledged; `send` carries a stanza to the device that is online. */
export class Inbox {
  readonly #said = new Map<string, Said>();
  readonly #send: (node: BinaryNode) => void;
  #deviceKeys: SignalCreds | undefined;

  constructor(send: (node: BinaryNode) => void) {
    this.#send = send;
  }

  set deviceKeys(keys: SignalCreds) {
    this.#deviceKeys = keys;
  }

  put(said: Said): string {
    const { id = "" } = said.attrs;
    this.#said.set(id, said);
    return id;
  }

  async deliver(id: string, extra: Readonly<Record<string, string>> = {}): Promise<void> {
    const said = this.#said.get(id);
    if (!said) return;
    const content = await this.#encrypt(said);
    this.#send({ tag: "message", attrs: { ...said.attrs, ...extra }, content: [content] });
  }

  /** Resolves with the number of messages that had to be delivered. */
  async deliverMissed(): Promise<number> {
    const missed = [...this.#said].filter(([, { acknowledged }]) => !acknowledged);
    for (const [index, [id]] of missed.entries()) await this.deliver(id, { offline: String(index) });
    return missed.length;
  }

  acknowledge(id: string | undefined): void {
    const said = this.#said.get(id ?? "");
    if (said) said.acknowledged = true;
  }

  /** The device could not decrypt it: a new session, and undamaged this time. */
  async retry(id: string | undefined): Promise<void> {
    const said = this.#said.get(id ?? "");
    if (!said?.attrs.id) return;
    said.encryptedBy?.forgetSession();
    said.damaged = false;
    await this.deliver(said.attrs.id);
  }

  async #encrypt({ encryptedBy, message, damaged }: Said): Promise<BinaryNode> {
    if (!encryptedBy) return plaintext(message);
    if (!this.#deviceKeys)
      throw new Error("WhatsApp stand-in: linkDevice() first, then say something encrypted");
    const enc = await encryptedBy.encrypt(message, this.#deviceKeys);
    return damaged ? damage(enc) : enc;
  }
}
