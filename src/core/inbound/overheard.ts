import { given } from "../given.ts";
import type { InboundMessage } from "../ports/chat.ts";
import type { ClaimedRun, NewRun, RunQueue, RunSettlement } from "../ports/engine.ts";
import type { Clock } from "../ports/host.ts";
import type { OverheardWords } from "../ports/overheard.ts";
import type { SessionKey } from "../ports/session.ts";
import type { RecordWrite, Storage } from "../ports/storage.ts";
import { joined } from "../runs/run-id.ts";

/** UTF-16 units of what is kept of one room; the newest message is kept whatever its length. */
const MOST_KEPT = 65_536;
/** Messages that were let go and are still recognised. */
const MOST_LET_GO = 100;
/** How long words wait for somebody who means the bot. */
const KEPT_MS = 24 * 3_600_000;
const SWEPT_EVERY_MS = 3_600_000;

/** The pool of the runs that forget what has waited too long. */
export const OVERHEARD_POOL = "overheard";

export interface Heard {
  /** Of the run that the message would be. */
  readonly id: string;
  readonly message: InboundMessage;
}

/**
 * What people said to each other in rooms where nobody talks with the bot: the newest messages of each room for a day, as one record, so that such a room is
 * no session and stays small. The next message that is for the bot brings them along.
 */
export interface Overheard {
  keep(key: SessionKey, heard: Heard, most: number): Promise<"accepted" | "duplicate">;
  /** Oldest first. */
  of(key: SessionKey): Promise<readonly Heard[]>;
  /** Whether the message has been kept and let go: it does not come back as a new one. */
  hasLetGo(key: SessionKey, id: string): Promise<boolean>;
  /** They stand in a session now. */
  forget(key: SessionKey, messages: readonly Pick<Heard, "id">[]): Promise<void>;
  /** The chat begins anew: nothing of before is brought along any more. */
  letGo(key: SessionKey): Promise<void>;
  /** The chat has a new address. */
  move(from: SessionKey, to: SessionKey): Promise<void>;
  /** Handler of the pool. */
  sweep(run: ClaimedRun): Promise<RunSettlement>;
}

type Words = readonly OverheardWords[];

export function createOverheard(parts: {
  readonly storage: Pick<Storage, "records">;
  readonly queue: Pick<RunQueue, "enqueue">;
  readonly clock: Clock;
}): Overheard {
  const { storage, queue, clock } = parts;
  const records = storage.records("overheard");
  const fresh = (words: Words) => words.filter(({ heardAtMs }) => clock.now() - heardAtMs < KEPT_MS);
  const read = async (key: SessionKey) => fresh((await records.get(key))?.words ?? []);
  const writeOf = (key: SessionKey, change: (words: Words) => Words): OverheardWrite => ({
    type: "record",
    table: "overheard",
    key,
    change(current) {
      const words = change(fresh(current?.words ?? []));
      return words.length === 0 ? undefined : { words };
    },
  });
  const update = (key: SessionKey, change: (words: Words) => Words) =>
    records.update(key, writeOf(key, change).change);

  /** Whatever becomes of the room, its record has an end. */
  async function add(key: SessionKey, change: (words: Words) => Words): Promise<void> {
    if ((await records.get(key)) !== undefined) await update(key, change);
    else await queue.enqueue(sweepRun(key, clock), { writes: [writeOf(key, change)] });
  }

  return {
    of: async (key) =>
      (await read(key)).flatMap(({ id, message }) => (message === undefined ? [] : { id, message })),
    hasLetGo: async (key, id) => (await read(key)).some((one) => one.id === id && one.message === undefined),
    async keep(key, { id, message }, most) {
      const one = { id, heardAtMs: clock.now(), message: plainMessage(message) };
      if ((await read(key)).some((other) => other.id === id)) return "duplicate";
      await add(key, (words) => bounded([...without(words, [one]), one], most));
      return "accepted";
    },
    async forget(key, messages) {
      await update(key, (words) => without(words, messages));
    },
    async letGo(key) {
      if ((await read(key)).length > 0) await update(key, (words) => bounded(words, 0));
    },
    async move(from, to) {
      const moved = await read(from);
      if (moved.length === 0 || from === to) return;
      await add(to, (words) => inOrder([...moved, ...without(words, moved)]));
      await update(from, (words) => without(words, moved));
    },
    async sweep({ payload }) {
      // Written by sweepRun only.
      const key = payload as SessionKey;
      const [oldest] = (await update(key, (words) => words))?.words ?? [];
      if (oldest === undefined) return { done: null };
      return { retryAtMs: Math.max(oldest.heardAtMs + KEPT_MS, clock.now() + SWEPT_EVERY_MS) };
    },
  };
}

type OverheardWrite = Extract<RecordWrite, { table: "overheard" }>;

/** One for each time that a room begins to have a record. */
function sweepRun(key: SessionKey, clock: Clock): NewRun {
  const id = joined("overheard", [key, clock.uuid()]);
  const notBeforeMs = clock.now() + KEPT_MS;
  return { id, lane: id, pool: OVERHEARD_POOL, kind: "sweep", payload: key, notBeforeMs };
}

/** The newest keep their text, those before them only their id. */
function bounded(words: Words, most: number): Words {
  const whole = words.filter(({ message }) => message !== undefined);
  const some = whole.slice(Math.max(0, whole.length - most));
  let size = 0;
  const cut = some.findLastIndex(({ message }) => {
    size += JSON.stringify(message).length;
    return size > MOST_KEPT;
  });
  const kept = new Set(some.slice(Math.min(cut + 1, some.length - 1)));
  const gone = words.filter((one) => !kept.has(one)).map(({ id, heardAtMs }) => ({ id, heardAtMs }));
  return inOrder([...gone.slice(-MOST_LET_GO), ...kept]);
}

function inOrder(words: Words): Words {
  return [...words].sort((one, other) => one.heardAtMs - other.heardAtMs);
}

function without(words: Words, gone: readonly Pick<OverheardWords, "id">[]): Words {
  const ids = new Set(gone.map(({ id }) => id));
  return words.filter(({ id }) => !ids.has(id));
}

/** Adapters may hand over richer objects. */
function plainMessage(message: InboundMessage): InboundMessage {
  const { id, from, sender, text, addressed, sentAtMs, quoted, attachments, chatTitle, guildId } = message;
  const { channel, accountId, chatType, chatId, threadId } = from;
  return {
    id,
    from: { channel, accountId, chatType, chatId, ...given({ threadId }) },
    sender,
    text,
    addressed,
    sentAtMs,
    ...given({ quoted, attachments, chatTitle, guildId }),
  };
}
