import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderTelegram, type TelegramPart } from "../../src/adapters/telegram/outbound.ts";
import { codeLines, plainProse, wildMarkdown, withoutSpace } from "../core/delivery/arbitrary-markdown.ts";
import { findEntities } from "../standins/telegram/found-entities.ts";
import { parseTelegramHtml } from "../standins/telegram/html.ts";

const htmlOf = (markdown: string) => renderTelegram(markdown).map(({ html }) => html);
const longest = ({ html, plain }: TelegramPart) => Math.max(html.length, plain.length);
const textOf = (markdown: string) => renderTelegram(markdown).map(({ html }) => parseTelegramHtml(html).text);

describe("TG-2: Markdown as Telegram's HTML", () => {
  it.each([
    ["**b** *i* ***bi*** ~~s~~ `c`", "<b>b</b> <i>i</i> <b><i>bi</i></b> <s>s</s> <code>c</code>"],
    ["__b__ <u>u</u> ||hidden||", "<b>b</b> <u>u</u> <tg-spoiler>hidden</tg-spoiler>"],
    ["a || b || c, x||y||z", "a || b || c, x||y||z"],
    ["# One **x**\ntext", "<b>One x</b>\ntext"],
    ["- a\n  - b\n1. c", "• a\n  • b\n1. c"],
    ["> a\n> > b\n\nc", "<blockquote>a\nb</blockquote>\n\nc"],
    ["```ts\na < b\n```", '<pre><code class="language-ts">a &lt; b</code></pre>'],
    ["```\na\n```", "<pre>a</pre>"],
    ['```"x&\na\n```', '<pre><code class="language-&quot;x&amp;">a</code></pre>'],
    ["| a | b |\n|---|---|\n| 1 | <2> |", "<pre>a | b\n--+----\n1 | &lt;2&gt;</pre>"],
    ["[t](https://example.org/?a_b=c_d&e=%22)", '<a href="https://example.org/?a_b=c_d&amp;e=%22">t</a>'],
    ["[t](mailto:ann@example.org)", '<a href="mailto:ann@example.org">t</a>'],
    ["[file](docs/a.md)", "file (docs/a.md)"],
    ["[x](javascript:alert)", "x (javascript:alert)"],
    ["[![badge](https://example.org/i)](https://example.org)", '<a href="https://example.org">badge</a>'],
    ["https://example.org/a_b_c", "https://example.org/a_b_c"],
    ["<b>bold</b> <i>no end", "<b>bold</b> &lt;i&gt;no end"],
    ["<b><i>crossed</b></i>", "&lt;b&gt;<i>crossed&lt;/b&gt;</i>"],
  ])("TG-2: %j", (markdown, html) => {
    expect(htmlOf(markdown)).toEqual([html]);
  });

  it.each([
    "write to <x@y.z> & <b>",
    "_ * [ ] ( ) ~ > # + - = | { } . !",
    "unbalanced **bold, [label and ~~strike",
    "a & b &amp; c",
    "2*3*4 snake_case_name",
  ])("L03: %j is escaped, not interpreted", (text) => {
    expect(textOf(text)).toEqual([text.replace("&amp;", "&")]);
  });

  it("L03: the plain text reads like the formatted one, with the addresses of links", () => {
    const markdown = "**Read** [the *log*](https://example.org/?a=1&b=2) <now>\n\n```ts\na && b\n```";
    expect(renderTelegram(markdown).map(({ plain }) => plain)).toEqual([
      "Read the log (https://example.org/?a=1&b=2) <now>\n\na && b",
    ]);
  });
});

describe("K06: nobody is pinged", () => {
  it.each([
    ["@channel_name hello", "@\u2060channel_name hello"],
    ["(@some_bot)", "(@\u2060some_bot)"],
    [
      "ann@example.org https://example.org/@channel_name",
      "ann@example.org https://example.org/@channel_name",
    ],
    ["https://example.org,@channel_name", "https://example.org,@\u2060channel_name"],
    ["@me at 5 @ 6", "@me at 5 @ 6"],
    ["`@channel_name`", "@channel_name"],
  ])("K06: %j reads the same", (markdown, text) => {
    expect(textOf(markdown)).toEqual([text]);
  });

  it("K06: text after parsing and plain text hold no mention", () => {
    const markdown = "@channel_name `@some_user` [Ann](tg://user?id=42)\n\n```\n@other_user\n```";
    for (const { html, plain } of renderTelegram(markdown)) {
      const { text, entities } = parseTelegramHtml(html);
      const found = [...entities, ...findEntities(text, entities), ...findEntities(plain)];
      expect(found.map(({ type }) => type).filter((type) => /mention/.test(type))).toEqual([]);
      expect(text).toContain("Ann");
    }
  });
});

describe("TG-2: long texts", () => {
  it.each([
    ["4,096 characters", "x".repeat(4096), 1],
    ["4,097 characters", "x".repeat(4097), 2],
    ["10,000 characters", "x".repeat(10_000), 3],
    ["nothing", "", 0],
    ["white space", " \n ".repeat(2000), 0],
  ])("L04: %s", (_, source, count) => {
    const parts = renderTelegram(source);
    expect(parts).toHaveLength(count);
    expect(parts.map(({ plain }) => plain).join("")).toBe(source.trim());
  });

  it.each([
    ["4,000 characters of <&>", "<&>".repeat(1334)],
    ["many bold words", "**bold** ".repeat(1500)],
    [
      "a wide table",
      `|${"column|".repeat(60)}\n|${"-|".repeat(60)}\n${`|${"<cell>|".repeat(60)}\n`.repeat(20)}`,
    ],
    ["a link with a long address", `${"word ".repeat(700)}[label](https://example.org/${"p".repeat(2000)})`],
    ["links", "[label](https://example.org/?a=1&b=2) ".repeat(300)],
    ["all styles at once", "***~~<u>||x||</u>~~*** ".repeat(400)],
  ])("L02: %s: every part is valid and short enough in every way of counting", (_, source) => {
    for (const part of renderTelegram(source)) {
      expect(parseTelegramHtml(part.html).text.length).toBeLessThanOrEqual(4096);
      expect(longest(part)).toBeLessThanOrEqual(4096);
    }
  });

  it("L01: code is the same in text and order, and every part has its language", () => {
    fc.assert(
      fc.property(codeLines, fc.integer({ min: 20, max: 60 }), (lines, times) => {
        const code = Array.from({ length: times }, () => lines.join("\n")).join("\n");
        fc.pre(code.trim() !== "");
        const parts = renderTelegram(`\`\`\`ts\n${code}\n\`\`\``);
        for (const { html } of parts)
          expect(html).toMatch(/^<pre><code class="language-ts">[\s\S]+<\/code><\/pre>$/);
        expect(
          parts
            .map(({ html }) => parseTelegramHtml(html).text)
            .join("\n")
            .trimEnd(),
        ).toBe(code.trimEnd());
      }),
      { numRuns: 30 },
    );
  });

  it("L04: prose loses nothing but white space at the cuts", () => {
    fc.assert(
      fc.property(fc.array(plainProse, { minLength: 20, maxLength: 60 }), (texts) => {
        const source = texts.join(" ");
        expect(withoutSpace(textOf(source).join(""))).toBe(withoutSpace(source));
      }),
      { numRuns: 30 },
    );
  });

  it("L02 L03 L05: any text: parts that Telegram takes as they are, no half characters", () => {
    fc.assert(
      fc.property(fc.array(wildMarkdown, { maxLength: 25 }), (texts) => {
        for (const part of renderTelegram(texts.join(" "))) {
          expect(parseTelegramHtml(part.html).text.trim()).not.toBe("");
          expect(longest(part)).toBeLessThanOrEqual(4096);
          expect(part.html + part.plain).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });
});
