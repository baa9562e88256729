import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderTelegram, type TelegramPart } from "../../../src/adapters/telegram/outbound.ts";
import { renderRichTelegram } from "../../../src/adapters/telegram/rich-parts.ts";
import { wildMarkdown } from "../../core/delivery/arbitrary-markdown.ts";
import { aMegabyteOf } from "../../core/transcript/cpu-time.ts";
import { checkedRichMessage, type StoredRichMessage } from "../../standins/telegram/rich-message.ts";

const TABLE = "| a | b |\n|---|---|\n| 1 | 2 |";
const AS_RICH = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>";

const RUNS = 120;

/** The rich form of a text that is one part, without the table that made it one. */
function besideTable(markdown: string): string | undefined {
  const [part, ...others] = renderRichTelegram(`${markdown}\n\n${TABLE}`);
  expect(others).toEqual([]);
  return part?.rich?.replace(AS_RICH, "");
}

const read = (html: string) => checkedRichMessage({ rich_message: { html, skip_entity_detection: true } });

const formsOf = (parts: readonly TelegramPart[]) => parts.map(({ html, plain }) => ({ html, plain }));

describe("TG-2: tables as rich messages", () => {
  it.each([
    [
      "| a | b | c |\n|:--|:-:|--:|\n| *1* | `<2>` |",
      '<table><tr><th align="left">a</th><th align="center">b</th><th align="right">c</th></tr>' +
        '<tr><td align="left"><i>1</i></td><td align="center"><code>&lt;2&gt;</code></td><td align="right"></td></tr></table>',
    ],
    [
      "| a<br>b | https://x.example/?a=1&b=2 |\n|--|--|",
      '<table><tr><th>a b</th><th><a href="https://x.example/?a=1&amp;b=2">https://x.example/?a=1&amp;b=2</a></th></tr></table>',
    ],
    ["- x\n  | a |\n  |---|", "<ul><li>x<table><tr><th>a</th></tr></table></li></ul>"],
    ["> | a |\n> |---|", "<blockquote><table><tr><th>a</th></tr></table></blockquote>"],
  ])("TG-2: %j", (markdown, rich) => {
    expect(renderRichTelegram(markdown).map((part) => part.rich)).toEqual([rich]);
  });

  it.each([
    ["# One **x**\ntwo\nthree", "<h1>One <b>x</b></h1><p>two<br>three</p>"],
    ["###### six\n\nunder\n---", "<h6>six</h6><h2>under</h2>"],
    [
      "**b** *i* ~~s~~ `c` <u>u</u> ||p||",
      "<p><b>b</b> <i>i</i> <s>s</s> <code>c</code> <u>u</u> <tg-spoiler>p</tg-spoiler></p>",
    ],
    [
      "- a\n  1. b\n- c\n\n7. d\n8. e",
      '<ul><li>a<ol><li>b</li></ol></li><li>c</li></ul><ol start="7"><li>d</li><li>e</li></ol>',
    ],
    [
      "- [x] a\n- [ ] b",
      '<ul><li><input type="checkbox" checked>a</li><li><input type="checkbox">b</li></ul>',
    ],
    ["- [x] a\n\n  more\n- b", '<ul><li><input type="checkbox" checked>a<p>more</p></li><li>b</li></ul>'],
    ["> a\n> b\n>\n> c\n> > d", "<blockquote>a<br>b<p>c</p><blockquote>d</blockquote></blockquote>"],
    [
      "```ts\na < b\n\nc\n```\n\n```\nd\n```",
      '<pre><code class="language-ts">a &lt; b\n\nc</code></pre><pre>d</pre>',
    ],
    ["a<u></u>b\n\n<i></i>", "<p>ab</p>"],
    ["a\n\n---\n\nb", "<p>a</p><hr/><p>b</p>"],
    ["#\n\n-\n\n```\n```", "<h1>#</h1><ul><li></li></ul>"],
    [
      "[t](https://x.example/?a=1&b=%22) [file](docs/a.md)",
      '<p><a href="https://x.example/?a=1&amp;b=%22">t</a> file (docs/a.md)</p>',
    ],
    ["[x](javascript:alert) [y](#part) [Ann](tg://user?id=42)", "<p>x (javascript:alert) y (#part) Ann</p>"],
    ["![pic](https://x.example/i.png)", '<p><a href="https://x.example/i.png">pic</a></p>'],
    [
      "<https://x.example> www.x.example",
      '<p><a href="https://x.example">https://x.example</a> <a href="http://www.x.example">www.x.example</a></p>',
    ],
    ["[x.example](https://x.example)", '<p><a href="https://x.example">https://x.example</a></p>'],
    [
      "[a https://x.example b](https://y.example)",
      '<p><a href="https://y.example">a https://x.example b</a></p>',
    ],
    ['<img src="x"> <tg-button type="url">', '<p>&lt;img src="x"&gt; &lt;tg-button type="url"&gt;</p>'],
    [
      "a &amp; <b>b</b> <a href='tg://user?id=1'>c</a>",
      "<p>a &amp; <b>b</b> &lt;a href='tg://user?id=1'&gt;c&lt;/a&gt;</p>",
    ],
  ])("TG-2: beside a table %j", (markdown, rich) => {
    expect(besideTable(markdown)).toBe(rich);
    expect(read(rich).text).not.toBe("");
  });

  it("TG-2: a text without a table is as it ever was", () => {
    for (const markdown of ["# h\n\n- a\n\n```\n| a |\n|---|\n```", "a | b", ""]) {
      expect(renderRichTelegram(markdown)).toEqual(renderTelegram(markdown));
    }
  });

  it("K06: nobody is pinged, even by a server that looks for names", () => {
    const html = besideTable("@channel_name [Ann](tg://user?id=42) `@some_user`") ?? "";
    const { entities } = checkedRichMessage({ rich_message: { html } });
    expect(entities.map(({ type }) => type)).toEqual(["code"]);
  });
});

describe("TG-2 L02: the limits of a rich message", () => {
  const row = (cells: number, text = "x") => `|${`${text}|`.repeat(cells)}`;
  const table = (rows: number, cells: number, text?: string) =>
    [row(cells, text), row(cells, "-"), ...Array.from({ length: rows }, () => row(cells, text))].join("\n");
  const isRich = (markdown: string) => renderRichTelegram(markdown).map(({ rich }) => rich !== undefined);

  it.each([
    ["20 columns", table(1, 20), [true]],
    ["21 columns", table(1, 21), [false]],
    ["20 columns with links", table(1, 20, "[a](https://x.example) *b*"), [true]],
    ["500 blocks", `${"x\n\n".repeat(497)}${TABLE}`, [true]],
    ["501 blocks", `${"x\n\n".repeat(498)}${TABLE}`, [false]],
    ["more markup than 32,768 characters", table(100, 9, "`x`").replaceAll("-", ":-:"), [false]],
  ])("L02: %s", (_, markdown, expected) => {
    expect(isRich(markdown)).toEqual(expected);
  });

  it("L02: nesting has 16 levels", () => {
    const nested = (lists: number, text: string) =>
      `${Array.from({ length: lists }, (_, level) => `${"  ".repeat(level)}- x\n`).join("")}${"  ".repeat(lists)}- ${text}\n\n${TABLE}`;
    expect(isRich(nested(5, "<u>a ***b ~~c~~***</u>"))).toEqual([true]);
    expect(isRich(nested(5, "<u>a ***b ~~c `d`~~***</u>"))).toEqual([false]);
  });

  it("L02 L04: a long text is the same parts with and without; whole tables are rich, one that is too long for a part is not", () => {
    const rows = Array.from({ length: 60 }, (_, at) => `| row ${at} | ${"word ".repeat(15)}|`);
    const long = ["| a | b |", "|---|---|", ...rows].join("\n");
    const text = Array.from(
      { length: 6 },
      (_, at) => `## Part ${at}\n\n${"words ".repeat(150)}\n\n${TABLE}`,
    ).join("\n\n");
    const markdown = `${text}\n\n${long}\n\n${text}`;
    const parts = renderRichTelegram(markdown);
    expect(formsOf(parts)).toEqual(renderTelegram(markdown));
    const whole = parts.filter(({ rich }) => rich !== undefined);
    expect(whole.length).toBeGreaterThanOrEqual(2);
    for (const { rich = "", html } of whole) {
      expect(wordsIn(read(rich).text)).toBe(wordsIn(html.replace(/<[^>]*>/g, "")));
    }
    expect(parts.filter(({ html }) => html.includes("row 30"))[0]?.rich).toBeUndefined();
  });
});

describe("TG-2: hostile Markdown in rich messages", () => {
  it("TG-2 L03: any text with tables: messages that are well formed, within their limits, with the words of `plain`", () => {
    let rich = 0;
    const text = fc.oneof(wildMarkdown, wildMarkdown, fc.constant(TABLE), fc.constant("words ".repeat(90)));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
        const markdown = [...texts, TABLE].join("\n\n");
        const parts = renderRichTelegram(markdown);
        expect(formsOf(parts)).toEqual(renderTelegram(markdown));
        for (const part of parts) {
          if (part.rich === undefined) continue;
          rich++;
          expect(wordsIn(withAddresses(read(part.rich)))).toBe(wordsIn(part.plain));
        }
      }),
      { numRuns: RUNS },
    );
    expect(rich).toBeGreaterThan(RUNS / 4);
  });

  it.each([
    "| a ",
    "- | a |\n",
    "> ",
    "| a |\n|---|\n",
    "***~~",
    "[x](",
    "<u>",
    "@name_x ",
    "https://x.example ",
  ])(
    "TG-2: the rich form of nothing but %j costs no more than a few times what the other form costs",
    (piece) => {
      const markdown = `${TABLE}\n\n${aMegabyteOf(piece, 40_000)}\n\n${TABLE}`;
      const html = cpuMs(() => renderTelegram(markdown));
      expect(cpuMs(() => renderRichTelegram(markdown))).toBeLessThan(5 * html + 40);
    },
  );
});

/** Tags that were written in a table are words in its other form; the number of an item without content is its own there. */
function wordsIn(text: string): string {
  return text.replace(/<\/?u>/g, "").replace(/[^\p{L}]+/gu, "");
}

/** As `plain` has it: an address follows the label of its link. */
function withAddresses({ text, entities }: StoredRichMessage): string {
  let shown = text;
  for (const entity of entities.toReversed()) {
    if (entity.type !== "text_link") continue;
    const end = entity.offset + entity.length;
    const label = text.slice(entity.offset, end).replaceAll("\u2060", "");
    const isAddress = entity.url === label || entity.url === `http://${label}`;
    if (!isAddress) shown = `${shown.slice(0, end)} (${entity.url})${shown.slice(end)}`;
  }
  return shown;
}

/** Processor time counts, so that a busy machine changes nothing. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
