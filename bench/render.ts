import { readFileSync } from "node:fs";
import { Lexer } from "marked";
import { renderDiscord } from "../src/adapters/discord/outbound.ts";
import { renderTelegram } from "../src/adapters/telegram/outbound.ts";
import { renderWebchat } from "../src/adapters/webchat/outbound.ts";
import { renderWhatsApp } from "../src/adapters/whatsapp/outbound.ts";
import { ms, type Result, timeBoth } from "./measure.ts";

const LENGTH = 80_000;
const ROUNDS = 3;

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
/** Pieces that cost a Markdown parser or a splitter most when nothing else follows. */
const HOSTILE = [
  "[",
  "![a](",
  "**a ",
  "> ",
  "`a",
  "| a ",
  "- ",
  "<a",
  "_*~",
  "\\",
  "👩‍👩‍👧‍👦",
  "```\n",
  "a\u0301",
];

const PLATFORMS: Readonly<Record<string, (markdown: string) => unknown>> = {
  Discord: (markdown) => renderDiscord(markdown),
  Telegram: (markdown) => renderTelegram(markdown),
  WhatsApp: (markdown) => renderWhatsApp(markdown),
  webchat: (markdown) => renderWebchat(markdown, 16_000),
};

/** 80,000 characters rendered and split, beside marked's lexer alone on the same text; and the slowest hostile text, which is one block of the event loop. */
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
  return [...rows, slowestHostile()];
}

function slowestHostile(): Result {
  const times = Object.values(PLATFORMS).flatMap((render) =>
    HOSTILE.map((piece) => {
      const text = filled(piece);
      render(text);
      const from = performance.now();
      render(text);
      return { piece, took: performance.now() - from };
    }),
  );
  const slowest = times.reduce((a, b) => (a.took > b.took ? a : b));
  return {
    name: `the slowest of ${HOSTILE.length} hostile texts of 80,000 characters, in parts of 50 ms`,
    measured: `${ms(slowest.took)} (${JSON.stringify(slowest.piece)})`,
    beside: "one block of the event loop",
    ratio: slowest.took / 50,
    goal: 1,
  };
}

function filled(piece: string): string {
  return piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
}
