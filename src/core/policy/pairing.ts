import { createHash } from "node:crypto";
import type { PairedPerson, PairingRequest, Pairings } from "../ports/pairing.ts";

export const PAIRING_VALID_MS = 3_600_000;
/** Requests of one account that wait for an owner at the same time; further strangers hear nothing. */
const MOST_PENDING = 3;

/** Without 0, O, 1 and I, which people mix up: 32 symbols. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 8;

export const NO_PAIRINGS: Pairings = { pending: [], approved: [] };

/** A code that is as hard to guess as the seed, up to 40 bits. */
export function pairingCode(seed: string): string {
  const bytes = createHash("sha256").update(seed).digest().subarray(0, CODE_LENGTH);
  return [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** The code that somebody has typed, in whichever case and with whatever stands between its characters. */
export function typedCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]+/g, "");
}

export function isPaired({ approved }: Pairings, ids: readonly string[]): boolean {
  return approved.some((person) => overlaps(person.ids, ids));
}

/** What waits for an owner. */
export function openRequests(pairings: Pairings, nowMs: number): readonly PairingRequest[] {
  return knownRequests(pairings, nowMs).filter(({ denied }) => denied !== true);
}

/** And what was turned down, until its time is over. */
export function knownRequests({ pending }: Pairings, nowMs: number): readonly PairingRequest[] {
  return pending.filter((request) => isValid(request, nowMs));
}

/** The person's request with this one added; undefined: one is pending or turned down already, or there is no place. */
export function withRequest(pairings: Pairings, request: PairingRequest): Pairings | undefined {
  const valid = knownRequests(pairings, request.atMs);
  const isRepeated = valid.some((one) => overlaps(one.ids, request.ids));
  const isFull = openRequests(pairings, request.atMs).length >= MOST_PENDING;
  return isRepeated || isFull ? undefined : { ...pairings, pending: [...valid, request] };
}

export function approvedPerson(request: PairingRequest, nowMs: number): PairedPerson {
  const { deliveryId: _told, denied: _never, ...person } = request;
  return { ...person, atMs: nowMs };
}

export function withApproval(pairings: Pairings, request: PairingRequest, nowMs: number): Pairings {
  const person = approvedPerson(request, nowMs);
  return {
    pending: pairings.pending.filter(({ code }) => code !== request.code),
    approved: [...pairings.approved.filter(({ ids }) => !overlaps(ids, request.ids)), person],
  };
}

export function withDenial(pairings: Pairings, code: string): Pairings {
  const pending = pairings.pending.map((one) =>
    one.code === code ? { ...one, denied: true as const } : one,
  );
  return { ...pairings, pending };
}

export function withoutPerson(pairings: Pairings, { ids }: PairedPerson): Pairings {
  return { ...pairings, approved: pairings.approved.filter((person) => !overlaps(person.ids, ids)) };
}

function isValid({ atMs }: PairingRequest, nowMs: number): boolean {
  return nowMs - atMs < PAIRING_VALID_MS;
}

function overlaps(some: readonly string[], others: readonly string[]): boolean {
  return some.some((id) => others.includes(id));
}
