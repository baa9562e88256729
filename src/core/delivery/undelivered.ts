import { messageOf, SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { ChatDeliveries, DeadLetter, DeadLetterEntry, DeadLetterList } from "../ports/dead-letter.ts";
import type { Backlog, RunId, RunQueue } from "../ports/engine.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { SessionKey } from "../ports/session.ts";
import type { Storage, Write } from "../ports/storage.ts";
import { DELIVERIES, deliveryLane } from "../runs/run-id.ts";
import type { Sessions } from "../session/sessions.ts";
import { shortLine } from "../text/short-line.ts";
import type { Redactor } from "../transcript/redact.ts";
import { burial, dismissal, LETTER_LIST, nextId, openEntries, retryRun } from "./dead-letter.ts";
import { toParcel } from "./parcel.ts";

const LONGEST_BEGINNING = 72;
const LONGEST_REASON = 200;
/** Of the chats in which something waits. */
const MOST_FOUND = 100;

/** Texts are one clean, masked line; times Unix ms. */
interface Undelivery {
  readonly to: Address;
  readonly sessionKey: SessionKey;
  /** How the text begins. */
  readonly text: string;
}

/** A chat with texts that have still to leave; `text` and `reason` are of the one that comes first. */
export interface WaitingView extends Undelivery {
  readonly count: number;
  readonly sinceMs: number;
  /** Why it has not left yet; absent: it has not been tried. */
  readonly reason?: string;
}

export interface DeadLetterView extends Undelivery {
  readonly id: RunId;
  /** Stays the same, and is never given twice. */
  readonly number: number;
  readonly state: DeadLetter["state"];
  readonly reason: string;
  readonly atMs: number;
}

export interface Found<T> {
  readonly found: readonly T[];
  /** How many there are, those that were not asked for among them. Chats are counted up to 10,000. */
  readonly total: number;
}

/** `at`: of this chat only. */
export interface Look {
  readonly at?: Address | undefined;
  readonly limit?: number;
}

/** What was to leave and has not: on its way, or given up until its owner decides. */
export interface Undelivered {
  /** Longest waiting first, at most 100. */
  waiting(look?: Look): Promise<Found<WaitingView>>;
  /** Newest first. Kept until they are dismissed, at most 30 days and 500 of them. */
  deadLetters(look?: Look): Promise<Found<DeadLetterView>>;
  /** Which there are, newest first, without reading one. */
  entries(at?: Address): Promise<readonly DeadLetterEntry[]>;
  /**
   * Delivers these again, as texts of today: in their order, under the policy of now, without the parts that had arrived. How many are on their way;
   * what has no session any more stays, and what does not arrive, for whatever reason, is listed again.
   */
  retry(ids: readonly RunId[]): Promise<number>;
  /** How many of these were sent again, whoever asked for it; as long as that run is known. */
  countRetried(ids: readonly RunId[]): Promise<number>;
  /** Forgets these. How many there were. */
  dismiss(ids: readonly RunId[]): Promise<number>;
  /** Costs the same however much there is. */
  inChat(at: Address): Promise<ChatDeliveries>;
  /** What this delivery's settlement writes. */
  burial(letter: DeadLetter): Promise<readonly Write[]>;
  /** Forgets what a session that is gone could not get delivered. */
  forget(key: SessionKey): Promise<void>;
}

interface UndeliveredParts {
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sessions: Pick<Sessions, "get">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Pick<Redactor, "redact">;
}

export function createUndelivered(parts: UndeliveredParts): Undelivered {
  const { storage, logger, clock } = parts;
  const list = createList(parts);
  return {
    ...createLooks(parts, list),
    async retry(ids) {
      let count = 0;
      for (const id of await among(ids)) if (await retryOne(id, parts)) count += 1;
      return count;
    },
    async countRetried(ids) {
      const retries = await Promise.all(ids.map((id) => parts.queue.get(nextId(id))));
      return retries.filter((run) => run !== undefined).length;
    },
    async dismiss(ids) {
      const found = await among(ids);
      await storage.apply(dismissal(found));
      return found.length;
    },
    async burial(letter) {
      const { writes, gone } = burial(letter, await list());
      if (gone.length > 0) logger.warn({ deliveryIds: gone }, "Old dead letters were let go");
      return writes;
    },
    async forget(key) {
      const gone = (await list())?.entries.filter(({ sessionKey }) => sessionKey === key) ?? [];
      if (gone.length > 0) await storage.apply(dismissal(gone.map(({ id }) => id)));
    },
  };

  /** Oldest first, so that texts of one chat keep their order. */
  async function among(ids: readonly RunId[]): Promise<readonly RunId[]> {
    const meant = new Set(ids);
    const open = openEntries(await list(), clock.now()).map(({ id }) => id);
    return open.filter((id) => meant.has(id)).toReversed();
  }
}

/** A list that is damaged counts as empty: the next dead letter writes it over. */
function createList({ storage, logger }: UndeliveredParts): () => Promise<DeadLetterList | undefined> {
  let said = false;
  return async () => {
    try {
      return await storage.records("deadLetters").get(LETTER_LIST);
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (!said) logger.error({ error: messageOf(error) }, "Which texts were not delivered is lost");
      said = true;
      return undefined;
    }
  };
}

/** Forgotten only when it is on its way: rather listed twice than nowhere. */
async function retryOne(id: RunId, parts: UndeliveredParts): Promise<boolean> {
  const letter = await letterOf(id, parts);
  if (letter === undefined || !(await maySomebodySend(letter, parts))) return false;
  await parts.queue.enqueue(retryRun(letter, parts.clock.now()));
  await parts.storage.apply(dismissal([id]));
  return true;
}

/** What belongs to a session that was deleted leaves no more; an answer to a command needs none. */
async function maySomebodySend({ payload }: DeadLetter, { sessions }: UndeliveredParts): Promise<boolean> {
  const { kind, evenIfDenied, sessionKey } = toParcel(payload);
  if (kind === "command" || evenIfDenied === true) return true;
  return (await unlessDamaged(sessions.get(sessionKey), "damaged")) !== undefined;
}

function letterOf(id: RunId, { storage }: UndeliveredParts): Promise<DeadLetter | undefined> {
  return unlessDamaged(storage.records("deadLetter").get(id), undefined);
}

function unlessDamaged<T, U>(reading: Promise<T>, otherwise: U): Promise<T | U> {
  return reading.catch((error: unknown) => {
    if (isDamage(error)) return otherwise;
    throw error;
  });
}

function createLooks(
  parts: UndeliveredParts,
  list: () => Promise<DeadLetterList | undefined>,
): Pick<Undelivered, "waiting" | "deadLetters" | "entries" | "inChat"> {
  const { queue, clock, redactor } = parts;
  const line = (text: string, longest: number) =>
    shortLine(text, longest, (one) => redactor.redact(one).text);

  const entriesAt = async (at: Address | undefined) =>
    openEntries(await list(), clock.now()).filter(({ to }) => at === undefined || isSameChat(to, at));

  async function waitingIn(lanes: readonly string[]): Promise<readonly WaitingView[]> {
    const backlogs = await Promise.all(lanes.map((lane) => queue.backlog(lane)));
    return backlogs.filter((one) => one !== undefined).map(waitingView);
  }

  function waitingView({ first, count }: Backlog): WaitingView {
    const { to, sessionKey, markdown, createdAtMs, lastReason } = toParcel(first.payload);
    const reason = lastReason === undefined ? undefined : line(lastReason, LONGEST_REASON);
    const text = line(markdown, LONGEST_BEGINNING);
    return given({ to, sessionKey, text, count, sinceMs: createdAtMs, reason });
  }

  /** What is listed and damaged is shown as far as it is known. */
  async function letterView(entry: DeadLetterEntry): Promise<DeadLetterView> {
    const letter = await letterOf(entry.id, parts);
    if (letter === undefined) return { ...entry, text: "", reason: "" };
    const text = line(toParcel(letter.payload).markdown, LONGEST_BEGINNING);
    return { ...entry, text, reason: line(letter.reason, LONGEST_REASON) };
  }

  return {
    entries: entriesAt,
    async waiting({ at, limit = MOST_FOUND } = {}) {
      const most = Math.max(0, Math.min(limit, MOST_FOUND));
      if (at === undefined) {
        const { lanes, total } = await queue.openLanes(DELIVERIES, most);
        return { found: await waitingIn(lanes), total };
      }
      const found = await waitingIn([deliveryLane(at).lane]);
      return { found: found.slice(0, most), total: found.length };
    },
    async deadLetters({ at, limit = Number.POSITIVE_INFINITY } = {}) {
      const entries = await entriesAt(at);
      return { found: await Promise.all(entries.slice(0, limit).map(letterView)), total: entries.length };
    },
    async inChat(at) {
      const [[waiting], entries] = await Promise.all([waitingIn([deliveryLane(at).lane]), entriesAt(at)]);
      const [newest] = entries;
      if (newest === undefined) return given({ waiting: waiting && shortOf(waiting) });
      const failed = entries.filter(({ state }) => state === "failed").length;
      const { reason: lastReason } = await letterView(newest);
      const dead = { failed, uncertain: entries.length - failed, lastReason };
      return given({ waiting: waiting && shortOf(waiting), dead });
    },
  };
}

function shortOf({ count, sinceMs, reason }: WaitingView): NonNullable<ChatDeliveries["waiting"]> {
  return given({ count, sinceMs, reason });
}

/** The chats that have a lane in common. */
function isSameChat(one: Address, other: Address): boolean {
  return one.channel === other.channel && one.accountId === other.accountId && one.chatId === other.chatId;
}

function isDamage(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === "STORE_CORRUPT";
}
