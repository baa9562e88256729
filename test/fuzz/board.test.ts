import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ScriptTurn } from "../../src/agents/scripted-agent.ts";
import { inboundRunId } from "../../src/core/runs/run-id.ts";
import { aBoard, aFolder, type Board, LEASE_MS, OPEN } from "../fakes/a-board.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at, type MemoryAdapter, memoryAdapter, OWNER, type Sent } from "../fakes/memory-adapter.ts";
import { fileOf } from "../fakes/store-files.ts";
import { cases, PATIENCE_MS } from "./arbitraries.ts";

const CHATS = [
  at("telegram", "direct", OWNER),
  at("telegram", "group", "-1"),
  at("telegram", "group", "-2"),
] as const;
const LONG_MS = 120_000;

type Step =
  | {
      readonly do: "say";
      readonly chat: number;
      readonly what: "plain" | "ask" | "wait" | "spawn" | "skip";
      readonly rush: boolean;
    }
  | { readonly do: "policy"; readonly chat: number; readonly word: "on" | "off" }
  | { readonly do: "reset"; readonly chat: number }
  | { readonly do: "fail"; readonly kind: "permanent" | "transient" | "uncertain" }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "restart" }
  | { readonly do: "kill"; readonly when: Moment };

/** Now, or in the next send: before the platform has it, before it has confirmed it, or when that has just been noted. */
const MOMENTS = ["now", "before", "unconfirmed", "confirmed"] as const;
type Moment = (typeof MOMENTS)[number];

const chat = fc.nat(CHATS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      chat,
      what: fc.constantFrom("plain", "ask", "wait", "spawn", "skip"),
      rush: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("policy" as const), chat, word: fc.constantFrom("on", "off") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reset" as const), chat }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fail" as const),
      kind: fc.constantFrom("permanent", "transient", "uncertain"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1000, 5000, 60_000, LONG_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.constant({ do: "restart" as const }),
      fc.record({
        do: fc.constant("kill" as const),
        when: fc.constantFrom(...MOMENTS),
      }),
    ),
  },
);

/** Says "answer to <token>" once to each message, having done what the message asks for. */
async function script({ request, text, call }: ScriptTurn): Promise<string> {
  const token = /t\d+t/.exec(text)?.[0] ?? "nothing";
  if (request.trigger === "completion") return `told of ${token}`;
  if (request.trigger !== "user") return request.trigger === "spawn" ? `child did ${token}` : "REPLY_SKIP";
  if (text.includes("skip")) return "NO_REPLY";
  if (text.includes("ask"))
    await call("sessions_send", { agentId: "ops", message: token, timeoutSeconds: 0 });
  if (text.includes("wait"))
    await call("sessions_send", { agentId: "ops", message: token, timeoutSeconds: 5 });
  if (text.includes("spawn")) await call("sessions_spawn", { task: token });
  return `answer to ${token}`;
}

/** Files, and how many texts the platform had got by then. */
interface Left {
  readonly dataDir: string;
  readonly arrived: number;
}

/** One bot through its lives, and what the platform has seen of it. */
class World {
  readonly clock = fakeClock();
  readonly #before: Sent[] = [];
  readonly said: {
    readonly token: string;
    readonly runId: string;
    readonly chat: number;
    readonly what: string;
  }[] = [];
  readonly silentSince = new Map<number, number>();
  /** What a platform failure or a kill may have cost is one answer less, never one more. */
  mayLose = false;
  #board: Board | undefined;
  #telegram: MemoryAdapter | undefined;
  #deathIn: Moment = "now";
  /** What a process that died within a send has left. */
  #left: Left | undefined;

  get board(): Board {
    if (this.#board === undefined) throw new Error("The board has not been opened.");
    return this.#board;
  }

  get telegram(): MemoryAdapter {
    if (this.#telegram === undefined) throw new Error("The board has not been opened.");
    return this.#telegram;
  }

  /** Everything that arrived, a repeat that the platform recognises once. */
  get sent(): readonly Sent[] {
    const all = [...this.#before, ...(this.#telegram?.sent ?? [])];
    return [...new Map(all.map((one) => [one.deliveryId, one])).values()];
  }

  async open(dataDir: string): Promise<void> {
    const config = { ...OPEN, session: { agentToAgent: { maxPingPongTurns: 1 } } };
    this.#telegram = memoryAdapter("telegram", {
      whileSending: () => this.#dieIn("before", "unconfirmed"),
      onceSent: () => this.#dieIn("confirmed"),
    });
    this.#board = await aBoard({
      dataDir,
      clock: this.clock,
      config,
      adapters: [this.#telegram],
      agents: { main: script, ops: () => "noted" },
    });
  }

  async says(what: string, chat: number, token: string) {
    const from = CHATS[chat] ?? CHATS[0];
    const text = `${what} ${token}`;
    expect(await this.telegram.says(text, { id: token, from })).toBe("run");
    this.said.push({ token, runId: inboundRunId(from, token), chat, what });
    return { token, from, text };
  }

  async restart(): Promise<void> {
    const { dataDir } = this.board;
    await this.board.close({ graceMs: 0 });
    this.#before.push(...this.telegram.sent);
    await this.open(dataDir);
  }

  /** As if the process were gone now: the next one finds the files as they are. */
  async kill(when: Moment, token: string): Promise<void> {
    this.#deathIn = when;
    if (when !== "now") {
      await this.says("plain", 1, token);
      await this.board.quiet();
    }
    this.#deathIn = "now";
    const { dataDir, arrived } = this.#left ?? this.#now();
    this.#left = undefined;
    await this.board.close({ graceMs: 0 });
    this.#before.push(...this.telegram.sent.slice(0, arrived));
    await this.open(dataDir);
    await this.clock.advance(2 * LEASE_MS);
  }

  #dieIn(...moments: readonly Moment[]): void {
    if (this.#left !== undefined || !moments.includes(this.#deathIn)) return;
    const { dataDir, arrived } = this.#now();
    this.#left = { dataDir, arrived: this.#deathIn === "unconfirmed" ? arrived + 1 : arrived };
  }

  #now(): Left {
    return { dataDir: this.board.snapshot(), arrived: this.telegram.sent.length };
  }

  /** What came to a chat that had been told to be silent, but for the answers to commands. */
  leaked(n: number): readonly string[] {
    const since = this.silentSince.get(n);
    if (since === undefined) return [];
    const here = this.sent.slice(since).filter(({ to }) => to.chatId === CHATS[n]?.chatId);
    return here.map(({ text }) => text).filter((text) => /answer to|told of|child did/.test(text));
  }
}

async function take(world: World, one: Step, n: number): Promise<void> {
  const { board } = world;
  const from = "chat" in one ? (CHATS[one.chat] ?? CHATS[0]) : CHATS[0];
  switch (one.do) {
    case "say": {
      const { token, from, text } = await world.says(one.what, one.chat, `t${n}t`);
      expect(await world.telegram.says(text, { id: token, from })).toBe("duplicate");
      if (!one.rush) await board.quiet();
      return;
    }
    case "policy":
      await board.quiet();
      await world.clock.advance(LONG_MS);
      await board.quiet();
      expect(world.leaked(one.chat)).toEqual([]);
      await world.telegram.says(`/send ${one.word}`, { from });
      await board.quiet();
      world.silentSince.delete(one.chat);
      if (one.word === "off") world.silentSince.set(one.chat, world.sent.length);
      return;
    case "reset":
      await world.telegram.says("/new", { from });
      return board.quiet();
    case "fail":
      if (one.kind !== "transient") world.mayLose = true;
      world.telegram.failNext(one.kind);
      return;
    case "pass":
      return world.clock.advance(one.ms);
    case "restart":
      // An answer that is just being given is cut off.
      world.mayLose = true;
      return world.restart();
    case "kill":
      world.mayLose = true;
      return world.kill(one.when, `t${n}t`);
    default:
      one satisfies never;
  }
}

interface OpenRun {
  readonly id: string;
  readonly not_before: number | null;
}

describe("fuzz: a board through its life", () => {
  it(
    "RUN-2 DELIV-1 POL-3: whatever happens, messages end once, nothing is posted twice, silent chats stay silent, and no run stays open",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
          const world = new World();
          await world.open(aFolder());
          const denied = new Set<number>();
          for (const [n, one] of steps.entries()) {
            await take(world, one, n);
            for (const quietOne of world.silentSince.keys()) denied.add(quietOne);
          }
          for (let round = 0; round < 3; round++) {
            await world.board.quiet();
            await world.clock.advance(LONG_MS);
          }
          await world.board.quiet();

          for (const n of world.silentSince.keys()) expect(world.leaked(n)).toEqual([]);
          const texts = world.sent.map(({ text }) => text);
          for (const { token, chat: where, what } of world.said) {
            const answers = texts.filter((text) => text.includes(`answer to ${token}`)).length;
            const expected = what === "skip" ? 0 : 1;
            // What came of a child is posted once, too.
            const news = texts.filter((text) => text.includes(token) && !text.includes("answer to"));
            expect(news.length).toBeLessThanOrEqual(what === "spawn" ? 1 : 0);
            if (world.mayLose || denied.has(where)) expect(answers).toBeLessThanOrEqual(expected);
            else expect(answers, token).toBe(expected);
          }
          const file = fileOf(world.board.dataDir);
          const open = file.prepare("SELECT id, not_before FROM runs WHERE ended_at IS NULL").all<OpenRun>();
          expect(open.filter(({ not_before }) => (not_before ?? 0) <= world.clock.now())).toEqual([]);
          const ended = file
            .prepare("SELECT id, state FROM runs WHERE ended_at IS NOT NULL")
            .all<{ id: string }>();
          for (const { runId } of world.said) expect(ended.map(({ id }) => id)).toContain(runId);
          await world.board.close({ graceMs: 0 });
        }),
        cases(100),
      );
    },
    PATIENCE_MS,
  );
});
