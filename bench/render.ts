import { readFileSync } from "node:fs";
import { Lexer } from "marked";
import { renderDiscord } from "../src/adapters/discord/outbound.ts";
import { renderTelegram } from "../src/adapters/telegram/outbound.ts";
import { renderWebchat } from "../src/adapters/webchat/outbound.ts";
import { renderWhatsApp } from "../src/adapters/whatsapp/outbound.ts";
import { ms, type Result, time, timeBoth } from "./measure.ts";

const LENGTH = 80_000;
const ROUNDS = 3;
/** Of one hostile text. */
const REPETITIONS = 3;
/** What less than that costs is noise. */
const MIN_MS = 4;

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const RISING_FENCES = Array.from({ length: 60 }, (_, more) => `${"`".repeat(3 + more)}\n`).join("");
/** Pieces that cost a Markdown parser or a splitter most when nothing else follows. */
const HOSTILE = [
  ...["[", "![", "![a](", "[a](", "[a](b) ", "[a][b]", "[a]: x\n\n[a] *[a][a]* ", "[[a] "],
  ...["*", "**a ", "*a_", "*a*_b_", "_*~", "~~a ", "`a", "`a`", "`` ` ", "\\", "\\*"],
  ...["|", "||a||", "||&}", "| a ", "|a|b\n|-|-\n", `${"|a".repeat(40)}\n`, "|-|\n"],
  ...["<", "<a", "<*", "<u>a</u>", "<!--", "<http://", "<http://a.b> ", "http://a.b ", "www.a.b*", "@abcd "],
  ...["&", "&#1;", "&amp;"],
  ...[
    "> ",
    "> a\n\n",
    "> - > a\n",
    "- ",
    "- a\n",
    "+ * `",
    "+ * `\n",
    "1. a\n",
    "1. ",
    "- [ ] a\n",
    "- a\n\n  b\n",
  ],
  ...["# a\n", "a\n===\n", "---\n", "a\n\n", "a  \n", "    a\n", "\t", "```\n", "~~~\n", RISING_FENCES],
  ...["a", "👩‍👩‍👧‍👦", "🇩🇪", "a\u0301", "क्षि", "مرحبا \u200f", "\ud83d"],
];

const PLATFORMS: Readonly<Record<string, (markdown: string) => unknown>> = {
  Discord: (markdown) => renderDiscord(markdown),
  Telegram: (markdown) => renderTelegram(markdown),
  WhatsApp: (markdown) => renderWhatsApp(markdown),
  webchat: (markdown) => renderWebchat(markdown, 16_000),
};

/** 80,000 characters rendered and split, beside marked's lexer alone on the same text; and hostile texts, each of which is one block of the event loop. */
export async function benchRender(): Promise<readonly Result[]> {
  const rows: Result[] = [];
  for (const [name, render] of Object.entries(PLATFORMS)) {
    const text = filled(README);
    const { one, other } = await timeBoth(
      () => render(text),
      () => new Lexer({ gfm: true }).lex(text),
      ROUNDS,
    );
    rows.push({
      name: `${name}: 80,000 characters rendered and split`,
      measured: ms(one.p50),
      beside: `marked.lexer ${ms(other.p50)}`,
      ratio: one.p50 / other.p50,
      goal: 2,
    });
  }
  return [...rows, ...(await hostile())];
}

async function hostile(): Promise<readonly Result[]> {
  let slowest = { what: "", ms: 0 };
  let steepest = { what: "", growth: 0 };
  for (const [name, render] of Object.entries(PLATFORMS)) {
    for (const piece of HOSTILE) {
      const what = `${name}, ${JSON.stringify(piece.slice(0, 20))}`;
      const whole = await time(() => render(filled(piece)), REPETITIONS);
      if (whole.p50 > slowest.ms) slowest = { what, ms: whole.p50 };
      if (whole.p50 < MIN_MS) continue;
      const quarter = await time(() => render(filled(piece, LENGTH / 4)), REPETITIONS);
      const growth = whole.p50 / quarter.p50;
      if (growth > steepest.growth) steepest = { what, growth };
    }
  }
  return [
    {
      name: `the slowest of ${HOSTILE.length} hostile texts of 80,000 characters, in parts of 50 ms`,
      measured: `${ms(slowest.ms)} (${slowest.what})`,
      beside: "one block of the event loop",
      ratio: slowest.ms / 50,
      goal: 1,
    },
    {
      name: "what four times the length of a hostile text costs, in parts of four times the time",
      measured: `${steepest.growth.toFixed(1)} times (${steepest.what})`,
      beside: "20,000 characters of the same",
      ratio: steepest.growth / 4,
      goal: 2,
    },
  ];
}

function filled(piece: string, length = LENGTH): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}
