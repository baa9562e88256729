import { hkdfSync } from "node:crypto";
import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  type KeyPair,
  NOISE_MODE,
  proto,
  sha256,
} from "@whiskeysockets/baileys";

/** What the server proves itself with: one static key and a certificate chain for it. */
export interface ServerIdentity {
  readonly staticKey: KeyPair;
  readonly certificate: Uint8Array;
}

/**
 * A static key with a well-formed chain (root → intermediate → leaf). Baileys 7.0.0-rc14 checks that the
 * signatures parse, not who made them, so a root of our own is enough.
 */
export function makeServerIdentity(): ServerIdentity {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
  const certificate = proto.CertChain.encode({
    intermediate: signed({ serial: 1, issuerSerial: 0, key: intermediate.public }, root),
    leaf: signed({ serial: 2, issuerSerial: 1, key: staticKey.public }, intermediate),
  }).finish();
  return { staticKey, certificate };
}

function signed(subject: { serial: number; issuerSerial: number; key: Uint8Array }, issuer: KeyPair) {
  const details = proto.CertChain.NoiseCertificate.Details.encode({
    ...subject,
    notBefore: 0,
    notAfter: 4_102_444_800,
  }).finish();
  return { details, signature: Curve.sign(issuer.private, details) };
}

/**
 * The server's half of Noise_XX_25519_AESGCM_SHA256 as WhatsApp speaks it: `hello` answers the client's
 * first message, `finish` reads its login, afterwards `open` and `seal` carry the frames.
 */
export class NoiseResponder {
  readonly #identity: ServerIdentity;
  readonly #ephemeral = Curve.generateKeyPair();
  readonly #clientEphemeral: Uint8Array;
  #hash: Buffer;
  #salt: Buffer;
  #handshake: CounterCipher;
  #fromClient: CounterCipher | undefined;
  #toClient: CounterCipher | undefined;

  constructor(identity: ServerIdentity, header: Buffer, clientEphemeral: Uint8Array) {
    this.#identity = identity;
    this.#clientEphemeral = clientEphemeral;
    this.#hash = Buffer.from(NOISE_MODE);
    this.#salt = this.#hash;
    this.#handshake = new CounterCipher(this.#hash);
    this.#authenticate(header);
    this.#authenticate(clientEphemeral);
  }

  /** True once `finish` succeeded: from then on every frame is sealed. */
  get established(): boolean {
    return this.#fromClient !== undefined;
  }

  hello(): Uint8Array {
    const { staticKey, certificate } = this.#identity;
    this.#authenticate(this.#ephemeral.public);
    this.#mix(Curve.sharedKey(this.#ephemeral.private, this.#clientEphemeral));
    const sealedKey = this.#sealHandshake(staticKey.public);
    this.#mix(Curve.sharedKey(staticKey.private, this.#clientEphemeral));
    const payload = this.#sealHandshake(certificate);
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.#ephemeral.public, static: sealedKey, payload },
    }).finish();
  }

  finish(message: proto.HandshakeMessage.IClientFinish): proto.ClientPayload {
    const clientStatic = this.#openHandshake(required(message.static));
    this.#mix(Curve.sharedKey(this.#ephemeral.private, clientStatic));
    const payload = proto.ClientPayload.decode(this.#openHandshake(required(message.payload)));
    const [fromClient, toClient] = this.#derive(Buffer.alloc(0));
    this.#fromClient = new CounterCipher(fromClient);
    this.#toClient = new CounterCipher(toClient);
    return payload;
  }

  open(frame: Uint8Array): Buffer {
    return required(this.#fromClient).open(frame, Buffer.alloc(0));
  }

  seal(plain: Uint8Array): Buffer {
    return required(this.#toClient).seal(plain, Buffer.alloc(0));
  }

  #authenticate(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #derive(secret: Uint8Array): [Buffer, Buffer] {
    const keys = Buffer.from(hkdfSync("sha256", secret, this.#salt, Buffer.alloc(0), 64));
    return [keys.subarray(0, 32), keys.subarray(32)];
  }

  #mix(secret: Uint8Array): void {
    const [salt, key] = this.#derive(secret);
    this.#salt = salt;
    this.#handshake = new CounterCipher(key);
  }

  #sealHandshake(plain: Uint8Array): Buffer {
    const sealed = this.#handshake.seal(plain, this.#hash);
    this.#authenticate(sealed);
    return sealed;
  }

  #openHandshake(sealed: Uint8Array): Buffer {
    const plain = this.#handshake.open(sealed, this.#hash);
    this.#authenticate(sealed);
    return plain;
  }
}

/** AES-GCM whose nonce is the number of messages so far. */
class CounterCipher {
  readonly #key: Uint8Array;
  #count = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(plain: Uint8Array, associated: Uint8Array): Buffer {
    return aesEncryptGCM(plain, this.#key, this.#nextNonce(), associated);
  }

  open(sealed: Uint8Array, associated: Uint8Array): Buffer {
    return aesDecryptGCM(sealed, this.#key, this.#nextNonce(), associated);
  }

  #nextNonce(): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(this.#count++, 8);
    return nonce;
  }
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined)
    throw new Error("WhatsApp stand-in: the handshake is out of order");
  return value;
}
