import { readFileSync } from "node:fs";
import { createRedactor } from "../src/core/transcript/redact.ts";
import { sanitize } from "../src/core/transcript/sanitize.ts";
import { ms, type Result, time } from "./measure.ts";

const MEGABYTE = 1_000_000;
const ROUNDS = 12;
/** Of a hostile megabyte. */
const WORST_MS = 100;
/** At least 20 MB/s. */
const ORDINARY_MS = 50;

const PROSE = `The train leaves at 8:05 from platform 3. Ana said: "take the early one", see https://example.com/plan?day=2.

- first item
- second item (optional), नमस्ते, 你好 🙂

`;
const LOG = `2026-03-14T15:09:26.535Z INFO id=3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b chat=112233445566778899 status=200 ms=12\n`;
const ORDINARY: Readonly<Record<string, string>> = {
  prose: PROSE,
  "a README": readFileSync(new URL("../README.md", import.meta.url), "utf8"),
  "log lines": LOG,
};

/** Pieces that are worst for one of the two when nothing else follows. */
const MARKUP = [
  "<think></think>",
  "<|a|>",
  "` ",
  "`<|x|>",
  "<|<|x|>|>``\n\n<invoke>`＜",
  "[a]\n{",
  "[Tool Call: x]\nArguments: {",
];
const SECRETS = [
  "token=a&",
  'password:"a\n',
  "Ab12\n",
  "://a:b@",
  "--token =0a1b2c3dZa",
  "_KEY://9a:b@\n",
  "sk-",
];

/** Sanitiser and redaction of 1 MB beside one pass of `indexOf`. */
export async function benchSanitize(): Promise<readonly Result[]> {
  const redactor = createRedactor({ registered: ["a-value-that-is-nowhere", "123456789:AAand-another-one"] });
  const clean = (text: string) => sanitize(text);
  const mask = (text: string) => redactor.redact(text);
  return [
    await row("sanitiser", clean, Object.values(ORDINARY), ORDINARY_MS),
    await row("sanitiser, hostile text", clean, MARKUP, WORST_MS),
    await row("redaction", mask, Object.values(ORDINARY), ORDINARY_MS),
    await row("redaction, hostile text", mask, SECRETS, WORST_MS),
  ];
}

/** The slowest of these texts; `ratio` is of the goal, as nothing comes near `indexOf`. */
async function row(
  name: string,
  work: (text: string) => unknown,
  pieces: readonly string[],
  goalMs: number,
): Promise<Result> {
  let slowest = { ms: 0, bare: 0 };
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(MEGABYTE / piece.length)).slice(0, MEGABYTE);
    const { p50 } = await time(() => work(text), ROUNDS);
    const bare = await time(() => text.indexOf("\u0001 not there"), ROUNDS);
    if (p50 > slowest.ms) slowest = { ms: p50, bare: bare.p50 };
  }
  return {
    name: `${name}: the slowest of ${pieces.length} texts of 1 MB, in parts of ${ms(goalMs)}`,
    measured: `${ms(slowest.ms)} (${Math.round(MEGABYTE / slowest.ms / 1000)} MB/s)`,
    beside: `one pass of indexOf ${ms(slowest.bare)}`,
    ratio: slowest.ms / goalMs,
    goal: 1,
  };
}
