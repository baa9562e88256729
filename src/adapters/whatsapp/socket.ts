import type { WhatsAppCredentials } from "./credentials.ts";

/**
 * The members of a Baileys socket that the adapter uses. A `WASocket` of `@whiskeysockets/baileys` 7 or 6.7 fits as it is; 6.7 has
 * no LID mapping.
 */
export interface WhatsAppSocket {
  readonly user?: { readonly id: string; readonly lid?: string } | undefined;
  readonly authState?: { readonly creds: WhatsAppCredentials };
  readonly ev: {
    on<E extends keyof WhatsAppEvents>(event: E, listener: (payload: WhatsAppEvents[E]) => void): unknown;
    off<E extends keyof WhatsAppEvents>(event: E, listener: (payload: WhatsAppEvents[E]) => void): unknown;
  };
  readonly ws: {
    readonly isOpen: boolean;
    on(event: "CB:ack,class:message", listener: (ack: WhatsAppAck) => void): unknown;
    off(event: "CB:ack,class:message", listener: (ack: WhatsAppAck) => void): unknown;
  };
  readonly signalRepository?: {
    readonly lidMapping?: LidMapping;
    /** Not used: what both lines have, without which the type of 6 would not resemble this one. */
    readonly decryptMessage?: unknown;
  };
  sendMessage(
    jid: string,
    content: { text: string; mentions: string[]; linkPreview: null },
    options: { messageId: string; quoted?: QuotedMessage },
  ): Promise<unknown>;
  sendPresenceUpdate(type: "composing", jid: string): Promise<void>;
  groupMetadata(jid: string): Promise<GroupInfo>;
}

export interface GroupInfo {
  readonly id: string;
  readonly subject: string;
}

export interface WhatsAppEvents {
  "connection.update": {
    readonly connection?: "open" | "connecting" | "close";
    readonly lastDisconnect?: { readonly error?: unknown } | undefined;
  };
  "messages.upsert": { readonly messages: WhatsAppMessage[]; readonly type: UpsertType };
  "groups.upsert": GroupUpdate[];
  "groups.update": GroupUpdate[];
  "group-participants.update": { readonly id: string };
}

/** What Baileys 7 tells besides; 6 takes the listener and never calls it. */
export interface LidEvents {
  on(event: "lid-mapping.update", listener: (mapping: LidPair) => void): unknown;
  off(event: "lid-mapping.update", listener: (mapping: LidPair) => void): unknown;
}

export interface LidPair {
  readonly lid: string;
  readonly pn: string;
}

/** notify: live. append: missed while offline, or sent by this very account. */
export type UpsertType = "notify" | "append";

export interface GroupUpdate {
  readonly id?: string;
  readonly subject?: string;
}

/** The server's answer to a sent message; with `error` it was not taken. */
export interface WhatsAppAck {
  readonly attrs: Readonly<Record<string, string>>;
}

interface LidMapping {
  getLIDForPN(phoneJid: string): Promise<string | null>;
  getPNForLID(lidJid: string): Promise<string | null>;
}

export interface WhatsAppMessage {
  readonly key: WhatsAppKey;
  readonly message?: WhatsAppContent | null;
  /** Seconds. */
  readonly messageTimestamp?: WireNumber;
  readonly pushName?: string | null;
}

export type WireNumber = number | { toNumber(): number } | null | undefined;

export interface WhatsAppKey {
  readonly id?: string | null;
  readonly remoteJid?: string | null;
  readonly fromMe?: boolean | null;
  /** Author in a group; Baileys 7 has "" here in direct chats. */
  readonly participant?: string | null;
  /** The author's other address, in Baileys 7. */
  readonly remoteJidAlt?: string;
  readonly participantAlt?: string;
  /** The same in Baileys 6.7.19 and later. */
  readonly senderPn?: string;
  readonly senderLid?: string;
  readonly participantPn?: string;
  readonly participantLid?: string;
}

interface Wrapped {
  readonly message?: WhatsAppContent | null;
}

export interface ContextInfo {
  readonly stanzaId?: string | null;
  readonly participant?: string | null;
  readonly quotedMessage?: WhatsAppContent | null;
  readonly mentionedJid?: readonly string[] | null;
  readonly isForwarded?: boolean | null;
}

export interface Media extends InContext {
  readonly mimetype?: string | null;
  readonly fileLength?: WireNumber;
  readonly fileName?: string | null;
  readonly caption?: string | null;
}

/** The kinds of message that are read, and the wrappers around them. */
export interface WhatsAppContent {
  readonly conversation?: string | null;
  readonly extendedTextMessage?: {
    readonly text?: string | null;
    readonly contextInfo?: ContextInfo | null;
  } | null;
  readonly imageMessage?: Media | null;
  readonly videoMessage?: Media | null;
  readonly ptvMessage?: Media | null;
  readonly audioMessage?: Media | null;
  readonly documentMessage?: Media | null;
  readonly stickerMessage?: Media | null;
  readonly buttonsResponseMessage?: Choice<"selectedDisplayText"> | null;
  readonly templateButtonReplyMessage?: Choice<"selectedDisplayText"> | null;
  readonly listResponseMessage?: Choice<"title"> | null;
  readonly interactiveResponseMessage?: {
    readonly body?: { readonly text?: string | null } | null;
    readonly contextInfo?: ContextInfo | null;
  } | null;
  readonly buttonsMessage?: (InContext & { readonly contentText?: string | null }) | null;
  readonly listMessage?: (InContext & { readonly description?: string | null }) | null;
  readonly templateMessage?:
    | (InContext & {
        readonly hydratedTemplate?: Template | null;
        readonly hydratedFourRowTemplate?: Template | null;
      })
    | null;
  readonly interactiveMessage?:
    | (InContext & { readonly body?: { readonly text?: string | null } | null })
    | null;
  readonly pollCreationMessage?: Poll | null;
  readonly pollCreationMessageV2?: Poll | null;
  readonly pollCreationMessageV3?: Poll | null;
  readonly eventMessage?: (InContext & { readonly name?: string | null }) | null;
  readonly locationMessage?: Place | null;
  readonly contactMessage?: Contact | null;
  readonly contactsArrayMessage?: (InContext & { readonly contacts?: readonly Contact[] | null }) | null;
  readonly protocolMessage?: {
    readonly type?: number | null;
    readonly key?: { readonly id?: string | null } | null;
    readonly editedMessage?: WhatsAppContent | null;
  } | null;
  readonly ephemeralMessage?: Wrapped | null;
  readonly viewOnceMessage?: Wrapped | null;
  readonly viewOnceMessageV2?: Wrapped | null;
  readonly viewOnceMessageV2Extension?: Wrapped | null;
  readonly documentWithCaptionMessage?: Wrapped | null;
  readonly editedMessage?: Wrapped | null;
  readonly groupMentionedMessage?: Wrapped | null;
  readonly botInvokeMessage?: Wrapped | null;
  readonly associatedChildMessage?: Wrapped | null;
  readonly lottieStickerMessage?: Wrapped | null;
  readonly pollCreationMessageV4?: Wrapped | null;
}

interface InContext {
  readonly contextInfo?: ContextInfo | null;
}

interface Template {
  readonly hydratedContentText?: string | null;
}

export interface Poll extends InContext {
  readonly name?: string | null;
  readonly options?: readonly { readonly optionName?: string | null }[] | null;
}

export interface Place extends InContext {
  readonly name?: string | null;
  readonly address?: string | null;
  readonly degreesLatitude?: number | null;
  readonly degreesLongitude?: number | null;
}

interface Contact extends InContext {
  readonly displayName?: string | null;
}

type Choice<Field extends string> = InContext & { readonly [F in Field]?: string | null };

/** Enough of an earlier message to quote it. */
export interface QuotedMessage {
  readonly key: {
    readonly remoteJid: string;
    readonly id: string;
    readonly fromMe: false;
    readonly participant: string;
  };
  readonly message: { readonly conversation: string };
}
