import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, proto } from "@whiskeysockets/baileys";
import type { WebSocket } from "ws";
import { NoiseResponder, type ServerIdentity } from "./noise.ts";

export interface ConnectionEvents {
  onLogin(payload: proto.ClientPayload, connection: ClientConnection): void;
  onNode(node: BinaryNode, connection: ClientConnection): Promise<void>;
  onClose(connection: ClientConnection): void;
  onError(error: unknown): void;
}

/** One socket of one client: frames, handshake and encryption inside, `BinaryNode`s outside, in order. */
export class ClientConnection {
  readonly #socket: WebSocket;
  readonly #identity: ServerIdentity;
  readonly #events: ConnectionEvents;
  #received = Buffer.alloc(0);
  #header: Buffer | undefined;
  #noise: NoiseResponder | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, identity: ServerIdentity, events: ConnectionEvents) {
    this.#socket = socket;
    this.#identity = identity;
    this.#events = events;
    socket.on("message", (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data]);
      this.#work = this.#work.then(() => this.#readFrames()).catch(events.onError);
    });
    socket.on("close", () => events.onClose(this));
  }

  send(node: BinaryNode): void {
    if (!this.#noise?.established) throw new Error("WhatsApp stand-in: the client has not logged in yet");
    this.#sendFrame(this.#noise.seal(encodeBinaryNode(node)));
  }

  /** Ends the connection without a word, as a network failure does. */
  drop(): void {
    this.#socket.terminate();
  }

  #sendFrame(frame: Uint8Array): void {
    const length = Buffer.alloc(3);
    length.writeUIntBE(frame.length, 0, 3);
    this.#socket.send(Buffer.concat([length, frame]));
  }

  async #readFrames(): Promise<void> {
    if (!this.#header && !this.#readHeader()) return;
    while (this.#received.length >= 3) {
      const end = 3 + this.#received.readUIntBE(0, 3);
      if (this.#received.length < end) return;
      const frame = this.#received.subarray(3, end);
      this.#received = this.#received.subarray(end);
      await this.#onFrame(frame);
    }
  }

  /** `ED 0 1 <len:3> <routing>` may stand in front of the four header bytes `W A 6 <version>`. */
  #readHeader(): boolean {
    const routed = this.#received.subarray(0, 2).toString() === "ED";
    const start = routed ? 7 + this.#received.readUIntBE(4, 3) : 0;
    if (this.#received.length < start + 4) return false;
    this.#header = this.#received.subarray(start, start + 4);
    this.#received = this.#received.subarray(start + 4);
    return true;
  }

  async #onFrame(frame: Buffer): Promise<void> {
    if (this.#noise?.established) {
      return this.#events.onNode(await decodeBinaryNode(this.#noise.open(frame)), this);
    }
    const { clientHello, clientFinish } = proto.HandshakeMessage.decode(frame);
    if (clientHello?.ephemeral && this.#header) {
      this.#noise = new NoiseResponder(this.#identity, this.#header, clientHello.ephemeral);
      this.#sendFrame(this.#noise.hello());
    } else if (clientFinish && this.#noise) {
      this.#events.onLogin(this.#noise.finish(clientFinish), this);
    }
  }
}
