import type { Child, Family } from "./child.ts";
import type { DeadLetter, DeadLetterList } from "./dead-letter.ts";
import type { Exchange } from "./exchange.ts";
import type { OverheardWords } from "./overheard.ts";
import type { Pairings } from "./pairing.ts";
import type { TranscriptEntry } from "./run.ts";
import type { Session, SessionKey, SessionKind } from "./session.ts";

/** Every record type and its shape. The key is chosen by the service that owns the table. */
export interface Tables {
  session: Session;
  exchange: Exchange;
  /** Id of the child → its task. */
  child: Child;
  /** Session key of the requester, or "*" → its children. */
  family: Family;
  /** Id of the delivery → the text that did not arrive, until somebody dismisses it or it is too old. */
  deadLetter: DeadLetter;
  /** "*" → which there are. */
  deadLetters: DeadLetterList;
  /** `<channel>:<accountId>`, parts escaped → who asked to write to this account directly, and who may. */
  pairing: Pairings;
  /** Session key of a room where nobody talks with the bot → what was said there lately, oldest first. */
  overheard: { readonly words: readonly OverheardWords[] };
  /** Chat and person → the sessions that a list has shown there last, the first of them as #`first`. */
  listed: { readonly first: number; readonly keys: readonly SessionKey[]; readonly atMs: number };
  /** `<channel>:<id>` → ids of the same person, canonical first. */
  person: { readonly ids: readonly string[] };
  /**
   * Session key → key under which the session is: it moved there (Telegram group that became a supergroup), or its thread was given to a child.
   * `awaited`: it has yet to come here and is still there.
   */
  moved: { readonly to: SessionKey; readonly awaited?: true };
}

/** Synchronous, free of effects, may be called again on a newer value; undefined deletes. */
export type Change<V> = (current: V | undefined) => V | undefined;

/**
 * One record type. "Not there" is undefined; a store that cannot be reached or read is STORE_UNREACHABLE or STORE_CORRUPT with the place, never "not there".
 */
export interface Records<V> {
  get(key: string): Promise<V | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (V | undefined)[]>;
  /** Read, change, compare and swap: atomic for every process that shares the store. Resolves with the stored value. */
  update(key: string, change: Change<V>): Promise<V | undefined>;
}

export interface TurnWrite {
  readonly type: "turn";
  readonly sessionId: string;
  readonly sessionKey: SessionKey;
  /** From 1. Runs of a session are serial, so a turn belongs to one run, and writing it again replaces it. */
  readonly turn: number;
  readonly runId: string;
  readonly entries: readonly TranscriptEntry[];
}

export type RecordWrite = {
  [T in keyof Tables]: {
    readonly type: "record";
    readonly table: T;
    readonly key: string;
    readonly change: Change<Tables[T]>;
    /** A value that cannot be read counts as none, and is written over; without this it is STORE_CORRUPT. */
    readonly evenDamaged?: true;
  };
}[keyof Tables];

/** A change as data, so that it can be carried into the transaction that settles or accepts a run. */
export type Write = TurnWrite | RecordWrite;

export interface TranscriptInfo {
  readonly sessionKey: SessionKey;
  /** Number of the newest turn; 0 = none. */
  readonly turns: number;
  /** seq of the newest row = number of rows. */
  readonly lastSeq: number;
  /** The run that wrote the newest turn: the same run writes the same turn again. */
  readonly lastRunId: string;
  /** seq of the first row of the newest turn. */
  readonly lastTurnSeq: number;
}

export interface TranscriptPage {
  /** Oldest first, consecutive. */
  readonly entries: readonly TranscriptEntry[];
  readonly totalEntries: number;
  /** Places that could not be read, e.g. "turn 41". The rest of the page is still there. */
  readonly damaged: readonly string[];
}

/** What was said in a session id. Grows at the end; a page costs its own size, never that of the transcript. */
export interface Transcripts {
  info(sessionId: string): Promise<TranscriptInfo | undefined>;
  /** The newest `limit` rows with seq < beforeSeq (absent: the newest of all). */
  page(
    sessionId: string,
    at: { readonly beforeSeq?: number; readonly limit: number },
  ): Promise<TranscriptPage>;
  delete(sessionId: string): Promise<void>;
}

/** Who may be listed: sessions of these agents, and these keys, whichever agent they belong to. */
export interface RowScope {
  /** "all" or agent ids. */
  readonly agentIds: "all" | readonly string[];
  readonly keys: readonly SessionKey[];
}

/** All given conditions hold. Newest first, then by key. */
export interface RowQuery {
  readonly scope: RowScope;
  readonly kinds?: readonly SessionKind[];
  readonly agentId?: string;
  readonly label?: string;
  /** Case-insensitive substring of display name, label, title, session id or key. */
  readonly search?: string;
  readonly activeSinceMs?: number;
  readonly archived: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** A session beside what the list shows of it. `bytes` = UTF-8 size of its JSON. */
export interface Row {
  readonly session: Session;
  readonly kind: SessionKind;
  readonly bytes: number;
}

export interface RowPage {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Derived data beside the session records, kept in step by the store itself. Lists and look-ups never iterate records and never write. */
export interface SessionIndex {
  list(query: RowQuery): Promise<RowPage>;
  bySessionId(sessionId: string): Promise<readonly SessionKey[]>;
  /** Every session id under which this session has a transcript, those from before a reset or a move too. */
  sessionIds(key: SessionKey): Promise<readonly string[]>;
  /** At most `limit` keys, newest first. */
  byLabel(label: string, agentId: string | undefined, limit: number): Promise<readonly SessionKey[]>;
  children(key: SessionKey): Promise<readonly SessionKey[]>;
  /** At most `limit` children of each, newest first; who has none is not in it. */
  childrenOf(
    keys: readonly SessionKey[],
    limit: number,
  ): Promise<ReadonlyMap<SessionKey, readonly SessionKey[]>>;
}

export interface Storage {
  records<T extends keyof Tables>(table: T): Records<Tables[T]>;
  readonly transcripts: Transcripts;
  readonly index: SessionIndex;
  /** All writes in one transaction where the store has them, else one after the other; each is idempotent. */
  apply(writes: readonly Write[]): Promise<void>;
  /** Where the JSONL mirror of a session id lies; undefined when there is none. */
  transcriptPath(sessionId: string): string | undefined;
}
