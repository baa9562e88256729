import type { BinaryNode } from "@whiskeysockets/baileys";
import type { LinkedDevice } from "./creds.ts";
import type { Group } from "./directory.ts";
import type { Person } from "./person.ts";

/** Login accepted. */
export function success({ lid, device }: LinkedDevice): BinaryNode {
  return { tag: "success", attrs: { t: now(), lid: `${lid}:${device}@lid`, status: "active" } };
}

/** Everything missed has been delivered: Baileys releases its events. */
export function offlineDone(count: number): BinaryNode {
  return { tag: "ib", attrs: {}, content: [{ tag: "offline", attrs: { count: String(count) } }] };
}

export function ack({ attrs }: BinaryNode, error?: string): BinaryNode {
  const base = { class: "message", id: attrs.id ?? "", from: attrs.to ?? "", t: now() };
  return { tag: "ack", attrs: error === undefined ? base : { ...base, error } };
}

/** "I could not read this, send it again": what a phone answers to a message of a broken session. */
export function retryRequest({ attrs }: BinaryNode, member?: string): BinaryNode {
  const { id = "", to = "" } = attrs;
  const participant = member === undefined ? {} : { participant: member };
  const retry = { tag: "retry", attrs: { count: "1", id, t: now(), v: "1" } };
  return {
    tag: "receipt",
    attrs: { id, from: to, type: "retry", t: now(), ...participant },
    content: [retry],
  };
}

/** 440: another client logged in with the same credentials. */
export function streamError(code: number): BinaryNode {
  if (code !== 440) return { tag: "stream:error", attrs: { code: String(code) } };
  return { tag: "stream:error", attrs: {}, content: [{ tag: "conflict", attrs: { type: "replaced" } }] };
}

export function groupRenamed(group: Group, by: Person): BinaryNode {
  const subject = { tag: "subject", attrs: { subject: group.subject, s_t: now() } };
  return groupChanged(group, by, subject);
}

export function memberAdded(group: Group, member: Person, by: Person): BinaryNode {
  const participant = { tag: "participant", attrs: { jid: member.jid(group.addressing) } };
  return groupChanged(group, by, { tag: "add", attrs: {}, content: [participant] });
}

function groupChanged(group: Group, by: Person, change: BinaryNode): BinaryNode {
  const attrs = {
    id: `${group.jid}-${change.tag}-${group.subject}-${group.members.length}`,
    from: group.jid,
    type: "w:gp2",
    participant: by.jid(group.addressing),
    t: now(),
  };
  return { tag: "notification", attrs, content: [change] };
}

function now(): string {
  return String(Math.floor(Date.now() / 1000));
}
