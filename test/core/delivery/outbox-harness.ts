import { createOutbox, type OutboxParts } from "../../../src/core/delivery/outbox.ts";
import { deliveryRun, type Parcel, type ParcelResult, toParcel } from "../../../src/core/delivery/parcel.ts";
import { deliveryFailed, SwitchboardError } from "../../../src/core/errors.ts";
import { given } from "../../../src/core/given.ts";
import type { Address, ChannelAdapter, OutboundMessage } from "../../../src/core/ports/chat.ts";
import type { DeadLetter } from "../../../src/core/ports/dead-letter.ts";
import type { NewRun, RunSettlement } from "../../../src/core/ports/engine.ts";
import type { Json } from "../../../src/core/ports/host.ts";
import type { SessionKey } from "../../../src/core/ports/session.ts";

/** What happens at one part. "before" and "after": the platform has stored it. offline: not even tried. settling: when all was sent and before that is written down. */
export type Outcome =
  | "ok"
  | "offline"
  | "transient"
  | "permanent"
  | { readonly hintMs: number }
  /** The whole account is to be silent for so long. */
  | { readonly holdMs: number }
  | { readonly lostAnswer: "before" | "after" }
  | { readonly crash: "before" | "after" | "confirmed" | "settling"; readonly downMs: number };

export interface Stored {
  readonly deliveryId: string;
  readonly part: number;
  readonly messageId: string;
  readonly text: string;
  readonly choices?: OutboundMessage["choices"];
}

interface Waiting {
  readonly run: NewRun;
  payload: Json;
  dueMs: number;
}

/** Chats as their lanes hold them, a platform that does what is ordered, and a process that may die at any moment. Time passes only where it must. */
export function aWorld(
  options: { repeatableForMs?: number; startMs?: number; says?: string; parts?: Partial<OutboxParts> } = {},
) {
  const { repeatableForMs = 0, says = "no luck" } = options;
  const lanes = new Map<string, Waiting[]>();
  const chats = new Map<string, Stored[]>();
  const known = new Map<string, { readonly messageId: string; readonly atMs: number }>();
  const bannedUntilMs = new Map<string, number>();
  const results = new Map<string, ParcelResult>();
  const letters: DeadLetter[] = [];
  const faults: string[] = [];
  const outcomes: Outcome[] = [];
  const tries: string[] = [];
  let silentUntilMs = 0;
  /** Whether this process has been told of the silence. */
  let toldOfSilence = false;
  let nowMs = options.startMs ?? 1_000_000;
  let messages = 0;
  let dies: (downMs: number) => void = () => {};

  const die = (downMs: number): Promise<never> => {
    begin();
    dies(downMs);
    return new Promise<never>(() => {});
  };

  /** Once within the time in which the platform knows a repeat. */
  function store(chatId: string, { deliveryId, choices }: OutboundMessage, part: number, text: string) {
    const key = `${deliveryId}:${part}`;
    const before = known.get(key);
    if (before !== undefined && nowMs - before.atMs < repeatableForMs) return before.messageId;
    if (before !== undefined) faults.push(`doubled: ${key}`);
    messages += 1;
    const messageId = `m${messages}`;
    known.set(key, { messageId, atMs: nowMs });
    chats.set(chatId, [
      ...(chats.get(chatId) ?? []),
      { deliveryId, part, messageId, text, ...given({ choices }) },
    ]);
    return messageId;
  }

  /** Texts are split at "|". */
  async function send({ chatId }: Address, message: OutboundMessage) {
    const messageIds: string[] = [];
    const texts = message.markdown.split("|");
    for (const [part, text] of texts.entries()) {
      if (part < (message.fromPart ?? 0)) continue;
      const outcome = outcomes.shift() ?? "ok";
      const failed = (retryable: boolean, more = {}) =>
        deliveryFailed(says, { retryable, partsSent: part, ...more });
      if (outcome === "offline") throw failed(true);
      if (nowMs < silentUntilMs || (typeof outcome === "object" && "holdMs" in outcome)) {
        if (nowMs < silentUntilMs && toldOfSilence) faults.push(`not silent: ${message.deliveryId}`);
        if (typeof outcome === "object" && "holdMs" in outcome) silentUntilMs = nowMs + outcome.holdMs;
        toldOfSilence = true;
        await message.onPart?.({ part, state: "starting" });
        throw failed(true, { retryAfterMs: silentUntilMs - nowMs, scope: "account" });
      }
      if ((bannedUntilMs.get(chatId) ?? 0) > nowMs)
        faults.push(`tried within the limit: ${message.deliveryId}`);
      tries.push(message.deliveryId);
      await message.onPart?.({ part, state: "starting" });
      if (outcome === "transient" || outcome === "permanent") throw failed(outcome === "transient");
      if (typeof outcome === "object" && "hintMs" in outcome) {
        bannedUntilMs.set(chatId, nowMs + outcome.hintMs);
        throw failed(true, { retryAfterMs: outcome.hintMs });
      }
      if (typeof outcome === "object" && "lostAnswer" in outcome) {
        if (outcome.lostAnswer === "after") store(chatId, message, part, text);
        throw failed(true, { uncertain: true });
      }
      const crash = typeof outcome === "object" ? outcome : undefined;
      if (crash?.crash === "before") return die(crash.downMs);
      const messageId = store(chatId, message, part, text);
      if (crash?.crash === "after") return die(crash.downMs);
      await message.onPart?.({ part, state: "sent", messageId });
      if (crash?.crash === "confirmed") return die(crash.downMs);
      messageIds.push(messageId);
      if (crash?.crash === "settling" && part === texts.length - 1) settling = crash.downMs;
    }
    return { messageIds };
  }

  let settling: number | undefined;
  const adapter: ChannelAdapter = {
    channel: "test",
    accountId: "default",
    maxTextLength: 100,
    repeatableForMs,
    start: async () => {},
    stop: async () => {},
    send,
  };
  // Parcels here are exempt from policy unless a test brings sessions of its own.
  const outboxParts: OutboxParts = {
    sessions: { get: async () => undefined } as unknown as OutboxParts["sessions"],
    names: { mainKey: "main", defaultAgentId: "main" } as unknown as OutboxParts["names"],
    sendCheck: async () => {
      throw new SwitchboardError("INTERNAL", "Nobody asks.");
    },
    queue: {
      backlog: async (lane) => {
        const [first, ...others] = lanes.get(lane) ?? [];
        // Only the count is looked at.
        return first && { lane, count: others.length + 1, first: first as never };
      },
    },
    undelivered: {
      burial: async (letter) => {
        letters.push(letter);
        return [];
      },
    },
    clock: { now: () => nowMs, after: () => () => {}, uuid: () => "" },
    events: { emit: () => {}, on: () => () => {} },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    mask: (text) => text,
    redactor: { redact: (text) => ({ text, redacted: false }) },
    ...options.parts,
  };
  let handler = createOutbox(adapter, outboxParts);

  /** Another process begins with what is stored alone. */
  function begin(): void {
    handler = createOutbox(adapter, outboxParts);
    toldOfSilence = false;
  }

  /** One claim of the head of a lane, until it is settled, parked, or the process dies. */
  async function claim(lane: string, head: Waiting): Promise<void> {
    settling = undefined;
    const died = new Promise<number>((resolve) => {
      dies = resolve;
    });
    const run = {
      ...head.run,
      payload: head.payload,
      attempt: 1,
      interrupted: false,
      signal: new AbortController().signal,
      whileWaiting: <T>(work: () => Promise<T>) => work(),
      checkpoint: async (payload: Json) => {
        head.payload = payload;
      },
    };
    const before = letters.length;
    const ended = await Promise.race([handler(run), died]);
    if (typeof ended === "number" || settling !== undefined) {
      // What a dead process wanted to write is not written.
      letters.length = before;
      nowMs += typeof ended === "number" ? ended : (settling ?? 0);
      return;
    }
    settle(lane, head, ended);
  }

  function settle(lane: string, head: Waiting, settlement: RunSettlement): void {
    if ("retryAtMs" in settlement) {
      head.dueMs = settlement.retryAtMs;
      head.payload = settlement.payload ?? head.payload;
      return;
    }
    if (results.has(head.run.id)) faults.push(`settled twice: ${head.run.id}`);
    // Results of this handler.
    const result = ("failed" in settlement ? settlement.result : settlement.done) as unknown as ParcelResult;
    results.set(head.run.id, result);
    lanes.set(lane, lanes.get(lane)?.filter((one) => one !== head) ?? []);
  }

  return {
    chats,
    results,
    letters,
    faults,
    tries,
    now: () => nowMs,
    /** The heads of the chats, and what is known of them. */
    waiting: () =>
      [...lanes.values()].flatMap(([head]) => {
        if (head === undefined) return [];
        const { failures, lastReason: reason } = toParcel(head.payload);
        return [{ id: head.run.id, failures, reason, untilMs: head.dueMs }];
      }),
    pass: (ms: number) => {
      nowMs += ms;
    },
    order: (...next: readonly Outcome[]) => outcomes.push(...next),
    enqueue(run: NewRun): void {
      const waiting = { run, payload: run.payload, dueMs: 0 };
      lanes.set(run.lane, [...(lanes.get(run.lane) ?? []), waiting]);
    },
    /** The platform is reached again. */
    wake(): void {
      for (const [head] of lanes.values()) if (head !== undefined) head.dueMs = nowMs;
    },
    /** The head that is due first, whenever that is. false: nothing is left. */
    async step(): Promise<boolean> {
      const heads = [...lanes].flatMap(([lane, [head]]) => (head === undefined ? [] : [{ lane, head }]));
      const [next] = heads.sort((a, b) => a.head.dueMs - b.head.dueMs);
      if (next === undefined) return false;
      nowMs = Math.max(nowMs, next.head.dueMs);
      await claim(next.lane, next.head);
      return true;
    },
  };
}

export function aText(id: string, markdown: string, more: Partial<Parcel> = {}): NewRun {
  const to = { channel: "test", accountId: "default", chatType: "group" as const, chatId: "c1" };
  return deliveryRun(id, {
    sessionKey: "agent:main:test:group:c1" as SessionKey,
    to,
    markdown,
    kind: "reply",
    evenIfDenied: true,
    createdAtMs: 1_000_000,
    ...more,
  });
}
