import { setMaxListeners } from "node:events";
import type { Clock } from "../../core/ports/host.ts";
import { within } from "../within.ts";
import { finalReason } from "./close-reason.ts";
import { bareJid, isLidJid, isPhoneJid } from "./jid.ts";
import type { GroupInfo, WhatsAppAck, WhatsAppEvents, WhatsAppSocket } from "./socket.ts";

/** How long a question may hold up a message. */
const ASK_FOR_MS = 5000;

/** One attached socket: whether it is open, and what the server answers to the messages sent on it. */
export interface Link {
  readonly socket: WhatsAppSocket;
  /** Logged in and not closed. */
  isOpen(): boolean;
  /** Since when; messages from before were missed. */
  openSinceMs(): number;
  /** Why WhatsApp will not let this bot in again, if it closed the connection for such a reason. */
  lockedOut(): string | undefined;
  /** Aborts when the socket closed or was detached. */
  readonly ended: AbortSignal;
  /** Resolves when the server answers this message id: undefined = stored, else its error code. */
  answerTo(messageId: string): { readonly code: Promise<number | undefined>; forget(): void };
  /** The LID of a phone address and the other way round, if Baileys knows it or learns it within five seconds. */
  otherAddress(jid: string): Promise<string | undefined>;
  /** What the server tells about a group, if it does within five seconds. */
  group(jid: string): Promise<GroupInfo | undefined>;
  /** Removes the listeners of this link. A second call does nothing. */
  detach(): void;
}

export interface LinkEvents {
  onOpen(): void;
  /** A new socket with the same credentials will not help. */
  onLockedOut(reason: string): void;
}

export function createLink(socket: WhatsAppSocket, clock: Clock, events: LinkEvents): Link {
  // A host that attaches late gets no "open" event; one that attaches in time has no connection yet.
  let open = socket.ws.isOpen;
  let openSinceMs = clock.now();
  let lockedOut: string | undefined;
  const ended = new AbortController();
  // Each message under way listens; Node.js warns of more than ten.
  setMaxListeners(0, ended.signal);
  const waiting = new Map<string, (code: number | undefined) => void>();

  const onConnection = ({ connection, lastDisconnect }: WhatsAppEvents["connection.update"]) => {
    if (connection === undefined) return;
    open = connection === "open";
    if (connection === "open") {
      openSinceMs = clock.now();
      events.onOpen();
    }
    if (connection === "close") {
      detach();
      lockedOut = finalReason(lastDisconnect?.error);
      if (lockedOut !== undefined) events.onLockedOut(lockedOut);
    }
  };
  const onAck = ({ attrs }: WhatsAppAck) => {
    waiting.get(attrs.id ?? "")?.(attrs.error === undefined ? undefined : Number(attrs.error));
  };
  function detach(): void {
    open = false;
    socket.ev.off("connection.update", onConnection);
    socket.ws.off("CB:ack,class:message", onAck);
    ended.abort(new Error("the WhatsApp socket was closed or replaced"));
  }

  socket.ev.on("connection.update", onConnection);
  socket.ws.on("CB:ack,class:message", onAck);
  return {
    socket,
    ended: ended.signal,
    isOpen: () => open,
    openSinceMs: () => openSinceMs,
    lockedOut: () => lockedOut,
    answerTo(messageId) {
      const code = new Promise<number | undefined>((resolve) => waiting.set(messageId, resolve));
      return { code, forget: () => waiting.delete(messageId) };
    },
    async otherAddress(jid) {
      const mapping = socket.signalRepository?.lidMapping;
      // Baileys looks in its own store here; who a person is must not depend on the connection.
      if (mapping && isLidJid(jid)) {
        const phone = bareJid(await attempt(mapping.getPNForLID(jid)));
        // Baileys keeps the number of a LID also when the number has a new LID.
        const isMutual = phone && bareJid(await attempt(mapping.getLIDForPN(phone))) === jid;
        return isMutual ? phone : undefined;
      }
      if (mapping && isPhoneJid(jid)) return bareJid(await attempt(mapping.getLIDForPN(jid), ended.signal));
    },
    group: (jid) => attempt(socket.groupMetadata(jid), ended.signal),
    detach,
  };
}

/** What is asked for here is a nicety: undefined after five seconds, on an error, or when the socket ends. */
function attempt<T>(question: Promise<T>, ended?: AbortSignal): Promise<T | undefined> {
  const timeout = AbortSignal.timeout(ASK_FOR_MS);
  return within(ended ? [ended, timeout] : timeout, question).catch(() => undefined);
}
