import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SILENCE_TOKENS, silence } from "../../../src/core/announce/silence.ts";

describe("K07: the token alone is silence", () => {
  const written: readonly ((token: string) => string)[] = [
    (token) => token,
    (token) => `  ${token}\n`,
    (token) => `${token}.`,
    (token) => `**${token}**`,
    (token) => `"${token}"`,
    (token) => `“${token}.”`,
    (token) => `\`${token}\``,
    (token) => `> ${token}`,
    (token) => `[${token}]`,
    (token) => `\u200b${token}\u200b`,
    (token) => `\`\`\`text\n${token}\n\`\`\``,
    (token) => `{"text":"${token}"}`,
    (token) => `{ "role": "assistant", "content": "${token}." }`,
    (token) => `\`\`\`json\n{"reply": "${token}"}\n\`\`\``,
    (token) => `["${token}"]`,
    (token) => token.toLowerCase(),
    (token) => `${token}\n${token}`,
  ];
  const cases = SILENCE_TOKENS.flatMap((token) => written.map((write) => [write(token), token] as const));

  it.each(cases)("K07 A2A-2 A2A-3 ANN: %j is silent", (text, token) => {
    expect(silence(text)).toEqual({ kind: "silent", token });
  });

  it.each([
    "<think>Nobody asked me.</think>NO_REPLY",
    "<thinking>\nOne.\n</thinking>\n\n<reasoning>Two.</reasoning>\n**NO_REPLY**",
    "They did not ask.</think>\nNO_REPLY",
    "<think>They did not ask.\nNO_REPLY",
    "<THINK mode='x'>a</THINK> NO_REPLY.",
  ])("K07: after nothing but reasoning: %j is silent", (text) => {
    expect(silence(text)).toEqual({ kind: "silent", token: "NO_REPLY" });
  });

  it.each(["", " \n\t", "<think>Nobody asked me.</think>", "<think>a</think>\n<think>b</think>\n"])(
    "A13: %j says nothing without a token",
    (text) => {
      expect(silence(text)).toEqual({ kind: "silent", token: undefined });
    },
  );
});

describe("K07: a token after real text is taken off", () => {
  it.each([
    ["Done.\nNO_REPLY", "Done."],
    ["Done.\n\n**NO_REPLY**.\n", "Done."],
    ["Done.\n- NO_REPLY", "Done."],
    ["Done.NO_REPLY", "Done."],
    ["Done.**NO_REPLY**", "Done."],
    ["Done. NO_REPLY", "Done."],
    ["DoneNO_REPLY", "Done"],
    ["हो गया।NO_REPLY", "हो गया।"],
    ["完成NO_REPLY", "完成"],
    ["👍NO_REPLY", "👍"],
    ["Done.NO_REPLY\nNO_REPLY\n`NO_REPLY`", "Done."],
    ["  Done.\nNO_REPLY", "  Done."],
    ["The answer is 42. <think>Enough.</think>\nNO_REPLY", "The answer is 42. <think>Enough.</think>"],
  ])("K07: %j", (text, rest) => {
    expect(silence(text)).toEqual({ kind: "text", text: rest, stripped: "NO_REPLY" });
  });

  it("K07: tells which token it was", () => {
    expect(silence("Done.\nANNOUNCE_SKIP")).toMatchObject({ stripped: "ANNOUNCE_SKIP" });
  });
});

describe("K07: anything else is text", () => {
  it.each([
    "Done.",
    "...",
    "👍",
    "Answer NO_REPLY to stay silent.",
    "To stay silent answer NO_REPLY",
    'The token is called "NO_REPLY".',
    "Use a token, e.g. NO_REPLY",
    "NO_REPLY\nbut here is more",
    "MY_NO_REPLY",
    "Example:\n```\nNO_REPLY\n```",
    '{"text":"NO_REPLY and more"}',
    '{"a":"NO_REPLY","b":1}',
    "<think> is a tag that models use",
    "Models close it with </think>",
    "Done.\nno_reply",
  ])("K07: %j", (text) => {
    expect(silence(text)).toEqual({ kind: "text", text });
  });

  it("K07: what is left has no token, so hearing it again changes nothing", () => {
    const bits = fc.constantFrom(
      ...SILENCE_TOKENS,
      ..."*`\"'.{}[]:<>",
      "\n",
      " ",
      "Done.",
      "word",
      "👍",
      "<think>",
      "</think>",
      '{"text":"',
      "```",
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 15 }), (written) => {
        const heard = silence(written.join(""));
        if (heard.kind === "text") expect(silence(heard.text)).toEqual({ kind: "text", text: heard.text });
      }),
      { numRuns: 2000 },
    );
  });
});
