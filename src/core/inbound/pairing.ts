import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import {
  approvedPerson,
  isPaired,
  knownRequests,
  NO_PAIRINGS,
  openRequests,
  PAIRING_VALID_MS,
  pairingCode,
  typedCode,
  withApproval,
  withDenial,
  withoutPerson,
  withRequest,
} from "../policy/pairing.ts";
import type { Address, InboundMessage } from "../ports/chat.ts";
import type { NewRun, RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock } from "../ports/host.ts";
import type { PairedPerson, PairingRequest, Pairings } from "../ports/pairing.ts";
import type { Storage, Write } from "../ports/storage.ts";
import { deliveryId, inboundRunId } from "../runs/run-id.ts";
import { cleanTitle } from "../session/describe.ts";
import { personIds, writtenId } from "../session/person.ts";
import { createKeyLock } from "../storage/key-lock.ts";
import type { Origin } from "./origin.ts";

type Account = Pick<Address, "channel" | "accountId">;

/** Who has asked to write directly, and who may, account by account. */
export interface Pairing {
  isPaired(account: Account, ids: readonly string[]): Promise<boolean>;
  /** Tells a stranger a code, once for each request. Says nothing to whoever has one, and nothing while enough others wait. */
  ask(message: InboundMessage, origin: Pick<Origin, "key" | "samePerson">): Promise<void>;
  /** What waits for an owner, and everybody who was approved, oldest first. */
  list(): Promise<Pairings>;
  /** By the code as an owner types it; undefined: there is no open request with it. Twice is fine. */
  approve(code: string): Promise<PairedPerson | undefined>;
  deny(code: string): Promise<PairingRequest | undefined>;
  /** Who was approved, by id with or without `<channel>:`, on whichever account. */
  named(writtenId: string): Promise<readonly PairedPerson[]>;
  remove(people: readonly PairedPerson[]): Promise<void>;
}

export interface PairingParts {
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly events: Events;
  readonly adapters: readonly Account[];
  /** What a stranger is told. */
  readonly reply: (
    told: { readonly code: string; readonly id: string },
    locale: string | undefined,
  ) => string;
}

export function createPairing(parts: PairingParts): Pairing {
  const { storage, queue, clock, events, adapters } = parts;
  const records = storage.records("pairing");
  const lock = createKeyLock();
  const read = async (account: Account) => (await records.get(keyOf(account))) ?? NO_PAIRINGS;
  const readAll = () => Promise.all(adapters.map(read));
  const update = (account: Account, change: (current: Pairings) => Pairings) =>
    records.update(keyOf(account), (current = NO_PAIRINGS) => change(current));

  async function ask(message: InboundMessage, origin: Pick<Origin, "key" | "samePerson">): Promise<void> {
    const { from, sender } = message;
    const asking = deliveryId(inboundRunId(from, message.id), "notice");
    const pairings = await read(from);
    // A store without transactions may have taken the request before a crash, and not the delivery.
    const told = pairings.pending.find((one) => one.deliveryId === asking);
    const ids = personIds(from.channel, sender, origin.samePerson);
    const request = told ?? newRequest(message, ids, asking, clock);
    if (told === undefined && withRequest(pairings, request) === undefined) return;
    const text = parts.reply({ code: request.code, id: sender.id }, message.locale);
    const run = replyRun(request, message, origin, text);
    if (!(await isAccepted(run, request, queue))) return;
    events.emit("pairing.requested", {
      from,
      personId: ids[0],
      code: request.code,
      expiresAtMs: request.atMs + PAIRING_VALID_MS,
      atMs: clock.now(),
    });
  }

  async function findRequest(typed: string): Promise<PairingRequest | undefined> {
    const known = (await readAll()).flatMap((pairings) => knownRequests(pairings, clock.now()));
    return known.find(({ code }) => code === typedCode(typed));
  }

  async function approve(typed: string): Promise<PairedPerson | undefined> {
    const request = await findRequest(typed);
    if (request?.denied === true) return undefined;
    if (request === undefined) {
      return (await readAll())
        .flatMap(({ approved }) => approved)
        .find(({ code }) => code === typedCode(typed));
    }
    const { from, ids } = request;
    const atMs = clock.now();
    await update(from, (current) => withApproval(current, request, atMs));
    events.emit("pairing.approved", { from, personId: ids[0], atMs });
    return approvedPerson(request, atMs);
  }

  return {
    approve,
    isPaired: async (account, ids) => isPaired(await read(account), ids),
    ask: (message, origin) => lock(keyOf(message.from), () => ask(message, origin)),
    async list() {
      const all = await readAll();
      return {
        pending: oldestFirst(all.flatMap((pairings) => openRequests(pairings, clock.now()))),
        approved: oldestFirst(all.flatMap(({ approved }) => approved)),
      };
    },
    async deny(typed) {
      const request = await findRequest(typed);
      if (request !== undefined) await update(request.from, (current) => withDenial(current, request.code));
      return request;
    },
    async named(written) {
      return (await readAll())
        .flatMap(({ approved }) => approved)
        .filter(({ ids, from }) => ids.includes(writtenId(from.channel, written)));
    },
    async remove(people) {
      for (const person of people) await update(person.from, (current) => withoutPerson(current, person));
    },
  };
}

function newRequest(
  { from, sender }: InboundMessage,
  ids: PairingRequest["ids"],
  asking: string,
  clock: Clock,
): PairingRequest {
  const { channel, accountId, chatType, chatId, threadId } = from;
  return {
    code: pairingCode(clock.uuid()),
    ids,
    ...given({ name: cleanTitle(sender.name ?? "") || undefined }),
    // Adapters may hand over richer objects.
    from: { channel, accountId, chatType, chatId, ...given({ threadId }) },
    deliveryId: asking,
    atMs: clock.now(),
  };
}

/** An ordinary delivery: send policy holds, and nothing in it mentions anybody. */
function replyRun(
  request: PairingRequest,
  { id: replyToId }: InboundMessage,
  { key: sessionKey }: Pick<Origin, "key">,
  markdown: string,
): NewRun {
  const { deliveryId: id, from: to, atMs: createdAtMs } = request;
  return deliveryRun(id, { sessionKey, to, markdown, kind: "pairing", replyToId, createdAtMs });
}

/** In one write or not at all: a code that is told can be approved, however many processes there are. */
async function isAccepted(run: NewRun, request: PairingRequest, queue: RunQueue): Promise<boolean> {
  try {
    return (await queue.enqueue(run, { writes: [requestWrite(request)] })) === "accepted";
  } catch (error) {
    if (error instanceof NoPlace) return false;
    throw error;
  }
}

function requestWrite(request: PairingRequest): Write {
  return {
    type: "record",
    table: "pairing",
    key: keyOf(request.from),
    change(current = NO_PAIRINGS) {
      if (current.pending.some(({ deliveryId }) => deliveryId === request.deliveryId)) return current;
      const next = withRequest(current, request);
      if (next === undefined) throw new NoPlace();
      return next;
    },
  };
}

/** Another process was faster. */
class NoPlace extends Error {}

function keyOf({ channel, accountId }: Account): string {
  return [channel, accountId].map(encodeURIComponent).join(":");
}

function oldestFirst<T extends { readonly atMs: number }>(some: readonly T[]): readonly T[] {
  return [...some].sort((one, other) => one.atMs - other.atMs);
}
