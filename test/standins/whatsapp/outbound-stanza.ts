import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type proto,
} from "@whiskeysockets/baileys";
import type { Directory } from "./directory.ts";
import type { Person } from "./person.ts";

/** A message that the bot sent and the server stored. */
export interface Sent {
  readonly to: string;
  readonly id: string;
  /** undefined for what is not text: edits, deletions, reactions. */
  readonly text: string | undefined;
  readonly mentions: readonly string[];
  readonly quotedId: string | undefined;
  /** Names of those whose phones could read it. */
  readonly readBy: readonly string[];
  readonly message: proto.IMessage;
}

/** true: there is somebody at this address, so the server takes the message. */
export function isDeliverable({ attrs }: BinaryNode, directory: Directory): boolean {
  return (directory.group(attrs.to) ?? directory.person(attrs.to)) !== undefined;
}

interface Opened {
  /** undefined when its addressees cannot read it. */
  readonly message: proto.IMessage | undefined;
  readonly readBy: readonly string[];
}

/** Opens a message on the phones it is encrypted for. */
export async function openMessage(node: BinaryNode, directory: Directory): Promise<Opened> {
  const opened: { readonly person: Person; readonly message: proto.IMessage }[] = [];
  for (const { attrs, content } of getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to")) {
    const enc = Array.isArray(content) ? content[0] : undefined;
    const person = directory.person(attrs.jid);
    // A phone that cannot read its copy asks for it again; the others have theirs.
    const message = enc && (await person?.decrypt(enc).catch(() => undefined));
    if (!person || !message) continue;
    if (person === directory.person(node.attrs.to)) opened.unshift({ person, message });
    else opened.push({ person, message });
  }
  const groupEnc = getBinaryNodeChildren(node, "enc").find(({ attrs }) => attrs.type === "skmsg");
  if (groupEnc) return openInGroup(node, groupEnc, directory);
  const first = opened[0]?.message;
  return {
    message: first?.deviceSentMessage?.message ?? first,
    readBy: opened.map(({ person }) => person.name),
  };
}

async function openInGroup(node: BinaryNode, enc: BinaryNode, directory: Directory): Promise<Opened> {
  const jid = node.attrs.to ?? "";
  const readBy: string[] = [];
  let message: proto.IMessage | undefined;
  for (const member of directory.group(jid)?.members ?? []) {
    // Each member's own copy moves its keys on.
    const copy = await member.decryptInGroup(jid, enc).catch(() => undefined);
    if (copy) readBy.push(member.name);
    message ??= copy;
  }
  return { message, readBy };
}

export function toSent({ attrs }: BinaryNode, message: proto.IMessage, readBy: readonly string[]): Sent {
  const context = message.extendedTextMessage?.contextInfo;
  return {
    to: attrs.to ?? "",
    id: attrs.id ?? "",
    text: message.extendedTextMessage?.text ?? message.conversation ?? undefined,
    mentions: context?.mentionedJid ?? [],
    quotedId: context?.stanzaId ?? undefined,
    readBy,
    message,
  };
}
