import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { spoken } from "../../../src/core/delivery/spoken.ts";
import { expectLinear } from "../transcript/cpu-time.ts";

const PIECES = [
  ...[
    "<think>",
    "</think>",
    "<final>",
    "<|x|>",
    "<|",
    "|>",
    "<tool_call>{",
    "[Tool Call: x]",
    "📖 Read: f\n",
  ],
  ...[
    "NO_REPLY",
    "REPLY_SKIP",
    "ANNOUNCE_SKIP",
    "```\n",
    "\n```",
    "~~~\n",
    "`",
    "**",
    '"',
    "{",
    "}",
    ".",
    "_",
  ],
  ...["\n", " ", "a", "word ", "> ", "- ", "\u200b", "😀"],
];
const anyReply = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((all) => all.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 100 }) },
);

describe("HIST-4: replies and announces are cleaned like the history", () => {
  it.each([
    ["<think>plan the trip</think>Train leaves 8:05.", "Train leaves 8:05."],
    ['Here it is.\n<tool_call>{"name":"read","arg', "Here it is."],
    ["Done.<｜end▁of▁turn｜>", "Done."],
    [
      "Write `<think>` like this:\n```\n<think>x</think>\n```",
      "Write `<think>` like this:\n```\n<think>x</think>\n```",
    ],
  ])("HIST-4, K08: %j is said as %j", (written, text) => {
    expect(spoken(written)).toEqual({ kind: "text", text });
  });

  it("HIST-4: nothing is said where only markup was written", () => {
    expect(spoken("<think>nothing to add</think>\n<final></final>")).toEqual({ kind: "silent" });
    expect(spoken('<tool_call>{"name":"x"}</tool_call>')).toEqual({ kind: "silent" });
  });

  it.each([
    "word NO_REPLY```\n</final></final>\n```NO_REPLY<think>> ",
    "`|>- ANNOUNCE_SKIP<|x|>\nANNOUNCE_SKIP`\n</final>",
    "a```\n<final>\n```NO_REPLY}</think>> <think>",
  ])("HIST-4, K07: a token that closed a code block uncovers nothing: %j", (written) => {
    const said = spoken(written);
    expect(said.kind === "text" && spoken(said.text)).toEqual({
      kind: "text",
      text: said.kind === "text" && said.text,
    });
  });

  it("HIST-4: saying it again changes nothing, and nothing ever grows", () => {
    fc.assert(
      fc.property(anyReply, (written) => {
        const said = spoken(written);
        if (said.kind === "silent") return;
        expect(said.text.length).toBeLessThanOrEqual(written.length);
        expect(spoken(said.text)).toEqual({ kind: "text", text: said.text });
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(["<think>", "<|a|>", "NO_REPLY\n", "a\nNO_REPLY", "```\n<|x|>\n```NO_REPLY"])(
    "P13: a hostile megabyte of %j is heard in linear time",
    (piece) => {
      expectLinear(spoken, piece);
    },
  );
});
