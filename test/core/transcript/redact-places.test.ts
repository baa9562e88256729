import { describe, expect, it } from "vitest";
import { createRedactor } from "../../../src/core/transcript/redact.ts";
import { LOOK_ALIKES } from "./look-alike-samples.ts";
import { leaks, secretSamples } from "./secret-samples.ts";

/** Where a text may stand. */
const PLACES: Readonly<Record<string, (text: string) => string>> = {
  alone: (text) => text,
  "in a sentence": (text) => `I found ${text} in the mail, as you know`,
  "at the start": (text) => `${text} is what I was given`,
  "at the end": (text) => `What I was given is ${text}`,
  "before a full stop": (text) => `Take ${text}.`,
  "before a comma": (text) => `Take ${text}, then go on`,
  "before an exclamation mark": (text) => `Take ${text}!`,
  "in parentheses": (text) => `Take it (${text}) now`,
  "in square brackets": (text) => `Take it [${text}] now`,
  "in double quotes": (text) => `Take "${text}" now`,
  "in single quotes": (text) => `Take '${text}' now`,
  "in curly quotes": (text) => `Take “${text}” now`,
  "in JSON": (text) => JSON.stringify({ note: text, n: 1 }),
  "in JSON in JSON": (text) => JSON.stringify({ note: JSON.stringify([text]) }),
  "in a code block": (text) => `Look:\n\`\`\`sh\n${text}\n\`\`\`\nDone.`,
  "in inline code": (text) => `Use \`${text}\` here`,
  bold: (text) => `Use **${text}** here`,
  italic: (text) => `Use _${text}_ here`,
  "in a list": (text) => `- one\n- ${text}\n- three`,
  "in a quote": (text) => text.replace(/^/gm, "> "),
  "in a table": (text) => `| a | b |\n|---|---|\n| ${text} | x |`,
  "in a link": (text) => `[here](${text}) and [${text}](https://example.com)`,
  "beside Chinese": (text) => `密钥是${text}请保存`,
  "beside Japanese": (text) => `これは「${text}」です。`,
  "beside Devanagari": (text) => `कुंजी${text}।यह है`,
  "beside an emoji": (text) => `🔑${text}🔑`,
};

const redactor = createRedactor();

describe("HIST-5 G03: secrets and look-alikes, wherever they stand", () => {
  it("HIST-5: there are at least 60 of each, all different", () => {
    expect(new Set(secretSamples().map(([name]) => name)).size).toBeGreaterThanOrEqual(60);
    expect(new Set(LOOK_ALIKES).size).toBeGreaterThanOrEqual(60);
  });

  it.each(Object.entries(PLACES))("HIST-5: %s, every secret is masked", (_place, put) => {
    const shown = secretSamples().filter(([, around, secret]) => {
      const { text } = redactor.redact(put(around.replace("§", () => secret)));
      return leaks(text, secret);
    });
    expect(shown.map(([name]) => name)).toEqual([]);
  });

  it.each(Object.entries(PLACES))("HIST-5: %s, every look-alike stays", (_place, put) => {
    const changed = LOOK_ALIKES.map(put).flatMap((text) => {
      const masked = redactor.redact(text);
      return masked.redacted ? [masked.text] : [];
    });
    expect(changed).toEqual([]);
  });
});
