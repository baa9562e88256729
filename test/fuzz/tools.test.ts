import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Session } from "../../src/core/ports/session.ts";
import { createSwitchboard } from "../../src/switchboard.ts";
import { aBoard, aFolder, type Board } from "../fakes/a-board.ts";
import {
  dumpOf,
  fileOf,
  leaveBehind,
  said,
  sessionIdOf,
  sessionWrite,
  storedSession,
  turnWrites,
} from "../fakes/store-files.ts";
import { anyJson, cases, nastyText, nearly, PATIENCE_MS, shaped } from "./arbitraries.ts";

const STATUSES = [
  undefined,
  "ok",
  "accepted",
  "error",
  "forbidden",
  "timeout",
  "pending",
  "skipped",
  "yielded",
  "killed",
  "done",
];
const errors = readFileSync(join(import.meta.dirname, "../../src/core/errors.ts"), "utf8");
const CODES = [...errors.matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map(([, code]) => code);

const SECRET = "planted-secret-value-4711";
const TOKEN = `sk-proj-${"aB3dE6gH9j".repeat(5)}`;
const HIDDEN = { title: "Hidden Title Qx7", label: "hidden-label-qx8", text: "hidden words Qx9" };
const CALLER = "agent:main:telegram:group:-1";
const HIDDEN_KEYS = ["agent:ops:main", "agent:main:telegram:direct:77", "agent:main:discord:channel:5"];
const LEVELS = ["self", "tree", "agent"] as const;

/** A caller, and beside it sessions that it may not see; all of them hold a secret. */
async function aBoardWithSecrets(visibility: (typeof LEVELS)[number]) {
  const dataDir = aFolder();
  const rows = [[said("user", `the key is ${SECRET}`), said("assistant", `or ${TOKEN}?`)]];
  const caller = storedSession(1, CALLER, { title: "Our room", chatType: "group" });
  const others = HIDDEN_KEYS.map((key, n) =>
    visibility === "agent" && key.includes(":main:")
      ? storedSession(2 + n, key, { title: "A sibling" })
      : storedSession(2 + n, key, {
          title: `${HIDDEN.title} ${SECRET}`,
          ...(n === 0 ? { label: HIDDEN.label } : {}),
        }),
  );
  const told = (session: Session) =>
    turnWrites(session, [
      [said("user", session.title === "A sibling" ? SECRET : `${HIDDEN.text} ${SECRET}`)],
    ]);
  const writes = [
    ...[caller, ...others].map(sessionWrite),
    ...turnWrites(caller, rows),
    ...others.flatMap(told),
  ];
  await leaveBehind(dataDir, writes);
  const board = await aBoard({
    dataDir,
    agents: { main: () => `an answer with ${SECRET}`, ops: () => "fine" },
    config: { redaction: { values: [SECRET] }, tools: { sessions: { visibility } } },
  });
  return { board, file: fileOf(dataDir) };
}

const text = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      "main",
      "current",
      CALLER,
      ...HIDDEN_KEYS,
      sessionIdOf(1),
      sessionIdOf(2),
      HIDDEN.label,
      "ops",
      SECRET,
      TOKEN,
    ),
  },
  {
    weight: 2,
    arbitrary: nearly(
      "main",
      "current",
      CALLER,
      ...HIDDEN_KEYS,
      HIDDEN.label,
      "ops",
      "subagent",
      "agent:main:subagent:1",
    ),
  },
  { weight: 2, arbitrary: nastyText },
);

interface Call {
  readonly tool: string;
  readonly input: unknown;
}

/** Tools as the caller sees them, by their own schemas. */
async function calls(): Promise<fc.Arbitrary<Call>> {
  const board = await createSwitchboard({
    agents: { main: { run: async () => ({ status: "ok", reply: "" }) } },
    dataDir: aFolder(),
    adapters: [],
  });
  onTestFinished(() => board.close());
  await board.start();
  await board.gateway.call("agent", { message: "hello", agentId: "main", sessionKey: "main" });
  const tools = await board.tools("main");
  const names = [
    ...new Set(
      tools.flatMap(({ inputJsonSchema }) =>
        Object.keys((inputJsonSchema as { properties?: object }).properties ?? {}),
      ),
    ),
  ];
  return fc.oneof(
    ...tools.map(({ name, inputJsonSchema }) =>
      fc.record({
        tool: fc.constant(name),
        input: fc.oneof(
          { weight: 6, arbitrary: shaped(inputJsonSchema, names, text) },
          { weight: 1, arbitrary: anyJson(names, text) },
        ),
      }),
    ),
  );
}

async function answerTo(board: Board, { tool, input }: Call, callId: string) {
  const bound = (await board.tools(CALLER)).find(({ name }) => name === tool);
  if (bound === undefined) throw new Error(`${tool} is not bound.`);
  const { signal } = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${tool} hangs`)), 5000);
  });
  const output = await Promise.race([bound.call(input, { callId, signal }), hangs]).finally(() =>
    clearTimeout(timer),
  );
  return output.value;
}

describe("fuzz: tools", () => {
  it(
    "TOOLS-3 VIS-1 LIST-4 HIST-5: any input has an answer of a closed kind that shows nothing hidden, and a refused one changes nothing",
    async () => {
      const call = await calls();
      const seen = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...LEVELS),
          fc.array(call, { minLength: 1, maxLength: 12 }),
          async (level, sequence) => {
            const { board, file } = await aBoardWithSecrets(level);
            for (const [n, one] of sequence.entries()) {
              await board.quiet();
              const before = dumpOf(file);
              const value = await answerTo(board, one, `call-${n}`);
              const answer = JSON.stringify(value);
              const kind = `${one.tool} ${value.status ?? "-"} ${value.code ?? ""}`;
              seen.set(kind, (seen.get(kind) ?? 0) + 1);
              expect(STATUSES).toContain(value.status);
              if (value.status === "error" || value.status === "forbidden") {
                expect(CODES).toContain(value.code);
                expect(value.error).toEqual(expect.any(String));
                await board.quiet();
                expect(dumpOf(file)).toBe(before);
              }
              expect(answer).not.toContain(SECRET);
              expect(answer).not.toContain(TOKEN);
              // What the caller has said itself is no news to it.
              const asked = JSON.stringify(sequence.slice(0, n + 1)).toLowerCase();
              for (const word of Object.values(HIDDEN)) {
                if (!asked.includes(word.toLowerCase()))
                  expect(answer.toLowerCase()).not.toContain(word.toLowerCase());
              }
            }
            await board.close({ graceMs: 0 });
          },
        ),
        cases(40),
      );
      if (process.env.FUZZ_SHOW !== undefined)
        console.log(
          [...seen]
            .sort()
            .map((one) => one.join(": "))
            .join("\n"),
        );
    },
    PATIENCE_MS,
  );
});
