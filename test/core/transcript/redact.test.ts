import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, redactBlocks } from "../../../src/core/transcript/redact.ts";
import { TOKEN_HINT, TOKEN_PATTERNS } from "../../../src/core/transcript/redact-patterns.ts";
import { expectLinear } from "./cpu-time.ts";
import { leaks, PEM_BEGIN, PEM_END, pem, secretNamed, secretSamples } from "./secret-samples.ts";

const MIXED = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6";
const LOWER_HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071";
const mixed = (length: number) => MIXED.repeat(4).slice(0, length);
const hex = (length: number) => LOWER_HEX.repeat(4).slice(0, length);
const buffer = (data: string) => ({ type: "Buffer", data });
const discordToken = secretNamed("Discord bot");
const telegramToken = secretNamed("Telegram bot");
const jwt = secretNamed("JWT");

const EXAMPLES: [string, string][] = [
  ["export STRIPE_SECRET=abcd1234", "export STRIPE_SECRET=***"],
  [`use ${"ghp"}_A1b2C3d4E5f6G7h8I9j0K1l2M3n4`, `use ${"ghp"}_A1…M3n4`],
  ["postgres://bob:hunter2@db/x", "postgres://bob:***@db/x"],
  ["Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer abcdef…uvwx"],
  [`${"123456789"}:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc`, "123456…K-bc"],
  ['{"apiKey":"hello-world-1234567890"}', '{"apiKey":"***"}'],
  ["my password is swordfish", "my password is swordfish"],
  ["password: swordfish", "password: ***"],
  [pem("PRIVATE KEY", mixed(64)), pem("PRIVATE KEY", "***")],
  [
    JSON.stringify({ noiseKey: { private: buffer("x") }, registrationId: 7 }),
    '{"noiseKey":"***","registrationId":7}',
  ],
  [
    `GET /bot${telegramToken}/sendMessage`,
    `GET /bot${telegramToken.slice(0, 6)}…${telegramToken.slice(-4)}/sendMessage`,
  ],
  ["a=1&token=x1y2&b=2", "a=1&token=***&b=2"],
];

describe("secrets", () => {
  const redactor = createRedactor();

  it.each(EXAMPLES)("HIST-5: %s", (text, masked) => {
    expect(redactor.redact(text)).toEqual({ text: masked, redacted: text !== masked });
  });

  it("HIST-5, G03: every kind is masked, whatever characters chance gave it, and masked once for all", () => {
    for (let seed = 1; seed <= 40; seed++) {
      for (const [name, around, secret] of secretSamples(seed)) {
        const { text, redacted } = redactor.redact(around.replace("§", () => secret));
        expect({ name, leaks: leaks(text, secret), redacted }, secret).toEqual({
          name,
          leaks: false,
          redacted: true,
        });
        expect(redactor.redact(text)).toEqual({ text, redacted: false });
      }
    }
  });

  it("HIST-5: invisible characters within a secret hide it from nobody", () => {
    for (const unseen of ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\u0000", "\u{e0041}"]) {
      const torn = discordToken.replace(/.{9}/g, `$&${unseen}`);
      const { text } = redactor.redact(`it is ${torn}, you see`);
      expect(text).toMatch(/^it is \S{6}…\S{4}, you see$/);
      const registered = createRedactor({ registered: ["swordfish-of-ours"], patterns: false });
      expect(registered.redact(`a sword${unseen}fish-of${unseen}-ours b`).text).toBe("a *** b");
    }
  });
});

describe("registered values", () => {
  it("HIST-5: are masked wherever they stand, the longest first", () => {
    const redactor = createRedactor({ registered: ["our-value", "our-value-and-more-of-it"] });
    redactor.register("a later one");
    expect(redactor.redact("xour-valuex, our-value-and-more-of-it; a later one").text).toBe(
      "x***x, our-va…f-it; ***",
    );
  });

  it("HIST-5: are found with blanks and line breaks in them", () => {
    const redactor = createRedactor({ registered: [discordToken] });
    const wrapped = `${discordToken.slice(0, 30)}\n    ${discordToken.slice(30, 50)} ${discordToken.slice(50)}`;
    expect(redactor.redact(`it is\n${wrapped}\nkeep it`).text).toBe(
      `it is\n${discordToken.slice(0, 6)}…${discordToken.slice(-4)}\nkeep it`,
    );
  });

  it("HIST-5: are not registered when they are shorter than 8 characters", () => {
    const redactor = createRedactor({ registered: ["", "the", "swords1", "a b c d e"] });
    expect(redactor.redact("the swords1 abcde").redacted).toBe(false);
  });

  it("HIST-5: are found in the form that JSON and URLs give them", () => {
    const value = 'pa"ss\\word/ü 1';
    const redactor = createRedactor({ registered: [value], patterns: false });
    for (const text of [value, JSON.stringify({ a: value }), `?p=${encodeURIComponent(value)}&q`]) {
      const masked = redactor.redact(text);
      expect(masked.redacted).toBe(true);
      expect(masked.text).not.toMatch(/ss|word/);
    }
    expect(() => redactor.register("half of an emoji \ud83d")).not.toThrow();
  });

  it("L05: a mask never shows half of an emoji, nor anything that means something by itself", () => {
    for (const value of [
      "12345😀6789012345678😀012",
      "://user:pass@host-and-more",
      "token=and-more-of-the-value",
    ]) {
      expect(createRedactor({ registered: [value] }).redact(`>${value}<`).text).toBe(">***<");
    }
  });
});

describe("texts of one message", () => {
  const redactor = createRedactor({ registered: ["registered-value"] });

  it.each([
    ["a key", `${"ghp"}_${mixed(36)}`],
    ["a key whose first half would be one itself", `sk-${mixed(60)}`],
    ["a Discord token", discordToken],
    ["a Telegram token", telegramToken],
    ["a JWT", jwt],
    ["a registered value", "registered-value"],
  ])("HIST-5, G03: %s is found when it is split over two of them or over two lines", (_name, secret) => {
    for (const at of [Math.floor(secret.length / 2), Math.floor(secret.length / 3)]) {
      const halves = [`it is ${secret.slice(0, at)}`, `${secret.slice(at)} keep it`];
      const blocks = redactBlocks(redactor, halves);
      expect(blocks.redacted).toBe(true);
      expect(blocks.texts).toEqual([redactor.redact(`it is ${secret}`).text, " keep it"]);
      expect(redactBlocks(redactor, blocks.texts)).toEqual({ texts: blocks.texts, redacted: false });
      const whole = redactor.redact(`it is ${secret} keep it`).text;
      for (const lineBreak of ["\n", "\r\n", "\n    ", "\n> "]) {
        expect(redactor.redact(halves.join(lineBreak)).text.replace(/\s+/g, " ")).toBe(whole);
      }
    }
  });

  it("HIST-5, G03: a PEM block over several of them is masked whole", () => {
    const texts = pem("PRIVATE KEY", `${mixed(64)}\n${hex(64)}`).split("\n");
    expect(redactBlocks(redactor, texts).texts).toEqual([texts[0], "***", "", texts.at(-1)]);
  });

  it("HIST-5: a token at the end of a line does not swallow the next line", () => {
    const token = `${"ghp"}_${mixed(36)}`;
    const lines = [
      token,
      token,
      "PORT2=8080",
      token,
      "Then go on",
      token,
      "3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b",
    ];
    const masked = redactor.redact(token).text;
    expect(redactor.redact(lines.join("\n")).text).toBe(lines.join("\n").replaceAll(token, masked));
  });

  it("HIST-5: as many come back as went in, untouched when there is nothing to mask", () => {
    expect(redactBlocks(redactor, [])).toEqual({ texts: [], redacted: false });
    expect(redactBlocks(redactor, ["a", "", "b\nc"])).toEqual({ texts: ["a", "", "b\nc"], redacted: false });
  });
});

const PIECES = [
  ..."\"':=@/&?{}()\n\\ .,;-_1aZ😀é…",
  ...[
    "sk-",
    `${"gh"}p_`,
    mixed(12),
    mixed(24),
    hex(32),
    "password",
    "token",
    "apiKey",
    "API_KEY",
    ": ",
    "--token ",
    "Bearer ",
  ],
  ...["Authorization: ", "://", "123456789:AA", "eyJ", "***", "abcdef…wxyz", PEM_BEGIN, PEM_END],
  ...[
    "\\n",
    "noiseKey",
    "registered-value",
    "registered",
    "-value",
    "webhooks/12/",
    "pairing code is AB12CD34",
  ],
];
const anyText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
);

describe("any text", () => {
  const redactor = createRedactor({ registered: ["registered-value"] });

  it("HIST-5: masking twice is masking once, the flag is true when something changed, no registered value is left", () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), (texts) => {
        const masked = redactBlocks(redactor, texts);
        expect(masked.redacted).toBe(masked.texts.some((text, index) => text !== texts[index]));
        expect(masked.texts.join("").replace(/\s/g, "")).not.toContain("registered-value");
        expect(redactBlocks(redactor, masked.texts)).toEqual({ texts: masked.texts, redacted: false });
      }),
      { numRuns: 2_000 },
    );
  });

  it("P13: more secrets than any text has are hidden as one, whatever stands between them", () => {
    const key = secretNamed("GitHub personal");
    const { texts, redacted } = redactBlocks(redactor, [
      `first ${`${key} and `.repeat(6_000)}`,
      `${key} and `.repeat(6_000),
    ]);
    expect({ texts, redacted }).toEqual({ texts: ["first ***", " and "], redacted: true });
  });

  it("P13: text without a hint has no token, so that looking for one first drops nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const found = TOKEN_PATTERNS.some(({ pattern }) => text.search(pattern) >= 0);
        if (found) expect(text).toMatch(TOKEN_HINT);
      }),
      { numRuns: 5_000 },
    );
    for (const [, around, secret] of secretSamples()) {
      const text = around.replace("§", () => secret);
      if (TOKEN_PATTERNS.some(({ pattern }) => text.search(pattern) >= 0)) expect(text).toMatch(TOKEN_HINT);
    }
  });

  it.each([
    ...["a", "sk-", "token=a&", "token=", "://a:b@", "eyJaaaaaaaa.", "_eyJ_", "_M_", PEM_BEGIN, "Ab12\n"],
    ...[
      "noiseKey:{",
      "noiseKey:'",
      "--a-",
      "--token =0a1b2c3dZa",
      "_KEY://9a:b@\n",
      'password:"a\n',
      "12345:a",
    ],
    ...["a\u200b", "\\", '"private":{"type":"Buffer","data":"', "bearer ", "SG.a", "\n> ", "…"],
    [".0a1b2c3dnoiseKey", "://", "a:b@", "webhooks/1/", "--\n", "://"].join(""),
  ])("P13: a hostile megabyte of %j is masked in linear time", (piece) => {
    expectLinear(redactor.redact, piece);
  });
});
