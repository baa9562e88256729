import { bareJid, isLidJid, isPhoneJid } from "./jid.ts";
import type { WhatsAppAck, WhatsAppEvents, WhatsAppSocket } from "./socket.ts";
import { within } from "./within.ts";

/** How long a question may hold up a message. */
const ASK_FOR_MS = 5000;

/** One attached socket: whether it is open, and what the server answers to the messages sent on it. */
export interface Link {
  readonly socket: WhatsAppSocket;
  /** Logged in and not closed. */
  isOpen(): boolean;
  /** Aborts when the socket closed or was detached. */
  readonly ended: AbortSignal;
  /** Resolves when the server answers this message id: undefined = stored, else its error code. */
  answerTo(messageId: string): { readonly code: Promise<number | undefined>; forget(): void };
  /** The LID of a phone address and the other way round, if Baileys knows it or learns it within five seconds. */
  otherAddress(jid: string): Promise<string | undefined>;
  /** The subject of a group, if the server tells it within five seconds. */
  groupTitle(jid: string): Promise<string | undefined>;
  /** Removes the listeners of this link. A second call does nothing. */
  detach(): void;
}

export function createLink(socket: WhatsAppSocket, onOpen: () => void): Link {
  // A host that attaches late gets no "open" event; one that attaches in time has no connection yet.
  let open = socket.ws.isOpen;
  const ended = new AbortController();
  const waiting = new Map<string, (code: number | undefined) => void>();

  const onConnection = ({ connection }: WhatsAppEvents["connection.update"]) => {
    if (connection === undefined) return;
    open = connection === "open";
    if (connection === "open") onOpen();
    if (connection === "close") detach();
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
    answerTo(messageId) {
      const code = new Promise<number | undefined>((resolve) => waiting.set(messageId, resolve));
      return { code, forget: () => waiting.delete(messageId) };
    },
    async otherAddress(jid) {
      const mapping = socket.signalRepository?.lidMapping;
      // Baileys looks in its own store here; who a person is must not depend on the connection.
      if (mapping && isLidJid(jid)) return bareJid(await attempt(mapping.getPNForLID(jid)));
      if (mapping && isPhoneJid(jid)) return bareJid(await attempt(mapping.getLIDForPN(jid), ended.signal));
    },
    async groupTitle(jid) {
      return (await attempt(socket.groupMetadata(jid), ended.signal))?.subject;
    },
    detach,
  };
}

/** What is asked for here is a nicety: undefined after five seconds, on an error, or when the socket ends. */
function attempt<T>(question: Promise<T>, ended?: AbortSignal): Promise<T | undefined> {
  const timeout = AbortSignal.timeout(ASK_FOR_MS);
  const limit = ended ? AbortSignal.any([ended, timeout]) : timeout;
  return within(limit, question).catch(() => undefined);
}
