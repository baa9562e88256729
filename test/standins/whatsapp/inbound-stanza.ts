import { randomBytes } from "node:crypto";
import { type BinaryNode, proto } from "@whiskeysockets/baileys";
import { Group } from "./directory.ts";
import type { Addressing, Person } from "./person.ts";

export interface SayOptions {
  /** The group it is said in; absent = direct. */
  readonly in?: Group;
  readonly id?: string;
  readonly sentAtMs?: number;
  /** How the direct chat is addressed; groups have their own. Default "pn". */
  readonly addressing?: Addressing;
  /** false: the stanza does not carry the person's other address. */
  readonly alternative?: boolean;
  /** In a group: the participant's address, for those that are no person (Meta AI). */
  readonly participant?: string;
  /** Written on this linked device instead of the phone. */
  readonly device?: number;
  /** true: really Signal-encrypted. Default: plaintext, which every Baileys accepts. */
  readonly encrypted?: boolean;
  /** true: the ciphertext is damaged on its first way; a retry brings it whole. Implies `encrypted`. */
  readonly damaged?: boolean;
  readonly mentions?: readonly Person[];
  readonly quoting?: { readonly id: string; readonly author: Person; readonly text: string };
}

export type Content = string | proto.IMessage;

/** Something that was said to the bot's account, as the server keeps it until the bot has acknowledged it. */
export interface Said {
  readonly attrs: Readonly<Record<string, string>>;
  readonly message: proto.IMessage;
  /** Who encrypts it; undefined = plaintext. */
  readonly encryptedBy: Person | undefined;
  damaged: boolean;
  acknowledged: boolean;
}

export function saidBy(person: Person, content: Content, options: SayOptions): Said {
  const addressing = options.in?.addressing ?? options.addressing ?? "pn";
  const other = addressing === "pn" ? "lid" : "pn";
  const author = options.participant ?? person.jid(addressing, options.device);
  const hidden = options.alternative === false || options.participant !== undefined;
  const alternative = hidden ? undefined : person.jid(other);
  const route = options.in
    ? { from: options.in.jid, participant: author, ...optional(`participant_${other}`, alternative) }
    : { from: author, ...optional(`sender_${other}`, alternative) };
  return said(person, content, options, { ...route, addressing_mode: addressing });
}

/** What the account's owner types on the phone reaches the bot's device too. `chat` may be the owner: the self-chat. */
export function typedBy(owner: Person, chat: Person | Group, content: Content, options: SayOptions): Said {
  if (chat instanceof Group) return saidBy(owner, content, { ...options, in: chat });
  const addressing = options.addressing ?? "pn";
  const other = addressing === "pn" ? "lid" : "pn";
  return said(owner, content, options, {
    from: owner.jid(addressing),
    recipient: chat.jid(addressing),
    ...optional(`peer_recipient_${other}`, options.alternative === false ? undefined : chat.jid(other)),
    addressing_mode: addressing,
  });
}

function said(author: Person, content: Content, options: SayOptions, route: Record<string, string>): Said {
  const id = options.id ?? `3A${randomBytes(9).toString("hex").toUpperCase()}`;
  const t = String(Math.floor((options.sentAtMs ?? Date.now()) / 1000));
  return {
    attrs: { id, t, type: "text", notify: author.name, ...route },
    message: messageOf(content, options, options.in?.addressing ?? options.addressing ?? "pn"),
    encryptedBy: options.encrypted || options.damaged ? author : undefined,
    damaged: options.damaged ?? false,
    acknowledged: false,
  };
}

function messageOf(
  content: Content,
  { mentions, quoting }: SayOptions,
  addressing: Addressing,
): proto.IMessage {
  if (typeof content !== "string") return content;
  if (!mentions && !quoting) return { conversation: content };
  const contextInfo: proto.IContextInfo = {
    mentionedJid: (mentions ?? []).map((person) => person.jid(addressing)),
    ...(quoting && {
      stanzaId: quoting.id,
      participant: quoting.author.jid(addressing),
      quotedMessage: { conversation: quoting.text },
    }),
  };
  return { extendedTextMessage: { text: content, contextInfo } };
}

export function plaintext(message: proto.IMessage): BinaryNode {
  return { tag: "plaintext", attrs: {}, content: proto.Message.encode(message).finish() };
}

/** The same `enc` with its last byte changed: the client cannot decrypt it. */
export function damage(enc: BinaryNode): BinaryNode {
  const content = Buffer.from(enc.content instanceof Uint8Array ? enc.content : []);
  const last = content.length - 1;
  content.writeUInt8((content[last] ?? 0) ^ 0xff, last);
  return { ...enc, content };
}

function optional(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}
