import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitize } from "../../../src/core/transcript/sanitize.ts";
import { expectLinear } from "./cpu-time.ts";

const fence = (code: string, info = "") => `\`\`\`${info}\n${code}\n\`\`\``;
/** Written in two halves, because some tools read such a prefix as their own. */
const namespaced = (name: string) => `${"an"}${"tml"}:${name}`;

const REMOVED: [string, string, string][] = [
  // The table of the specification
  ["reasoning", "<think>plan the trip</think>Train leaves 8:05.", "Train leaves 8:05."],
  ["a control token between words", "Hello<|assistant|>there", "Hello there"],
  ["a full-width control token", "Done.<｜end▁of▁turn｜>", "Done."],
  ["memories", "<relevant-memories>likes tea</relevant-memories>\nTea is ready", "Tea is ready"],
  ["a call that was cut off", 'ok <tool_call>{"name":"read","args":{"p":"a', "ok"],
  ["unclosed reasoning", "abc <think>never closed", "abc"],
  ["the wrapper of a final answer", "<final>Answer</final>", "Answer"],
  ["a trace line", "📖 Read: foo.txt\nreal text", "real text"],
  [
    "a downgraded result and call, without the prose after them",
    "[Tool Result for ID 7]\nout\n\n[Tool Call: y]\nArguments: {}\nBye",
    "Bye",
  ],
  [
    "a downgraded call with braces in its arguments",
    '[Tool Call: search (ID: 7)]\nArguments: {"q":"x{y}"}\nFound 3.',
    "Found 3.",
  ],
  ["historical context", "[Historical context: 2 msgs]\nHi", "Hi"],
  ["a lone MiniMax end mark", "</minimax:tool_call>Bye", "Bye"],

  // Reasoning
  [
    "reasoning in other words",
    "A<thinking>x</thinking>B<thought>y</thought>C<antthinking>z</antthinking>D",
    "ABCD",
  ],
  ["reasoning with a namespace", `<${namespaced("thinking")}>x</${namespaced("thinking")}>Hi`, "Hi"],
  ["reasoning with blanks, attributes and capitals", "A < THINK id='1'>x< /Think > B", "A  B"],
  ["nested reasoning", "<think>outer <think>inner</think> still outer</think>visible", "visible"],
  [
    "reasoning that mentions its own mark",
    "<think>no <think> here</think>One <think>x</think>two",
    "One two",
  ],
  ["reasoning with code in it", "so <think>call `f()`\n```\ncode\n```\n</think>done", "so done"],
  ["reasoning with an unclosed fence", "<think>\n```js\nfoo</think>Answer", "Answer"],
  ["reasoning with a stray backtick", "<think>a ` b</think>See `x`", "See `x`"],
  ["a stray end mark", "abc </think> def", "abc  def"],
  ["a mark without content", "Before<think/>After", "BeforeAfter"],
  ["a mark that was cut off", "Yes.\n<think", "Yes."],
  ["final marks with attributes", "A <final data-x='1'>b</FINAL> c", "A b c"],

  // Control tokens
  ["several control tokens between words", "Hello<|end|><|start|>there", "Hello there"],
  ["control tokens between letters of any script", "नमस्ते<|end|>दुनिया", "नमस्ते दुनिया"],
  ["control tokens where no words meet", "One.<|end|>\n<|start|>Two", "One.\nTwo"],

  // Memories and calls
  ["memories, spelled differently and unclosed", "Hi\n< relevant_memories >a secret", "Hi"],
  ["a whole call", 'Now.\n<tool_call>{"name":"x"}</tool_call>\nDone.', "Now.\n\nDone."],
  ["calls in the plural", 'a <tool_calls>[{"n":1}]</tool_calls> b', "a  b"],
  ["a function call", 'a <function_call name="x">{"n":1}</function_call> b', "a  b"],
  ["function calls", 'a <function_calls>\n<invoke name="x">1</invoke>\n</function_calls> b', "a  b"],
  [
    "namespaced calls",
    `a <${namespaced("function_calls")}><${namespaced("invoke")} name="x">1</${namespaced("invoke")}></${namespaced("function_calls")}> b`,
    "a  b",
  ],
  ["an end mark in a JSON string", '<tool_call>{"h":"</tool_call>leak"}</tool_call>Hi', "Hi"],
  [
    "a call within a call",
    "<tool_call>\n<function=read><parameter=p>/x</parameter></function>\n</tool_call>Hi",
    "Hi",
  ],
  ["a call that names its arguments", "<tool_call>read\n<arg_key>p</arg_key></tool_call>Hi", "Hi"],
  ["a call cut off in its mark", 'So:\n<tool_call name="find"\n{"arguments":{}}', "So:"],
  ["a call cut off after its mark", "So: <tool_call>", "So:"],
  ["a result", 'a\n<tool_result>{"out":"x"}</tool_result>\nb', "a\n\nb"],
  ["a result of plain text", "<function_response>\nraw output\n</function_response>\nHi", "Hi"],
  ["a lone end mark", "a </tool_call> b", "a  b"],
  ["MiniMax calls", '<invoke name="read">payload</invoke></minimax:tool_call>Bye', "Bye"],
  [
    "a whole MiniMax call",
    '<minimax:tool_call>\n<invoke name="x"><parameter name="a">1</parameter></invoke>\n</minimax:tool_call>\nBye',
    "Bye",
  ],

  // Lines and brackets
  [
    "other trace lines",
    "Hi\n🛠️ Exec: ls\n> ⚠️ 🛠️ `ls (agent)` failed: no\ntool_call: x\ncommentary to=functions.f {}\nBye",
    "Hi\nBye",
  ],
  [
    "legacy blocks",
    'a\n[TOOL_CALL]{tool => "w", args => {}}[/TOOL_CALL]\n[TOOL_RESULT]plain[/TOOL_RESULT]\nb',
    "a\n\n\nb",
  ],
  ["a legacy block that was cut off", 'a\n[TOOL_CALL]{tool => "w", args', "a"],
  ["a tool request", 'a\n[memory_search]\n{"q":"x"}\n[END_TOOL_REQUEST]\nb', "a\n\nb"],
  ["a downgraded call with one line of arguments", "[Tool Call: a]\nArguments: some words\nHi", "Hi"],
  ["a downgraded call without arguments", "a\n[Tool Call: b]\nc", "a\nc"],
  [
    "only the mark before unfinished arguments",
    '[Tool Call: a]\nArguments: {"q":"x\nHi',
    'Arguments: {"q":"x\nHi',
  ],
  ["a result up to the end", "a\n[Tool Result for ID 7]\nout", "a"],
  ["blank edges", "\n  <think>x</think>  \n text \n", "text"],
];

const KEPT: [string, string][] = [
  ["a mention of a call mark", "The <tool_call> tag is an XML tag."],
  ["a mention of both call marks", "Put JSON between <tool_call> and </tool_call>."],
  ["a mention without the bracket", "Use <tool_call to invoke tools."],
  ["a mention of a result in a sentence", "Use <function_response>ok</function_response> for it."],
  ["a mention of a legacy mark", "Use [TOOL_CALL] only in logs."],
  ["another tag of a similar name", "A <final-result>visible</final-result> and <thinker>b</thinker>"],
  ["a mark in a fence", fence("<think>x</think>", "xml")],
  ["a mark in an unclosed fence", "Look:\n~~~\n<think>x</think>\n"],
  ["a fence in a list", `- item\n  ${fence("<|x|>").replaceAll("\n", "\n  ")}`],
  ["a fence in a line", "code: ```\n<final>42</final>\n\n<|x|>``` and on"],
  ["marks in inline code", "Use `<think>` to open and ``</think> ` `` to close, or `<|end|>`."],
  ["a call in inline code", 'Write `<tool_call>{"a":1}</tool_call>` yourself.'],
  ["downgraded marks and trace lines in a fence", fence("[Tool Call: x]\nArguments: {}\n📖 Read: y\n")],
  ["an indented fence at the edge", `  ${fence("x")}`],
  [
    "tables, arrows and comparisons",
    "| a | b |\n|---|---|\n| 1 < 2 | x => y |\n\n1 <2 and 3> 2 [see](x) [1]",
  ],
  ["an alternative operator", "p <|> q <|> r"],
  ["a link that looks like a marker", "See [Tool Result of May](https://example.com)."],
  ["a heading with an emoji", "📝 Notes: buy milk"],
  ["HTML", "<b>bold</b> <a href='x'>y</a> <!-- z -->"],
];

describe("prose", () => {
  it.each(REMOVED)("HIST-4, K08: removed: %s", (_what, text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it.each(KEPT)("HIST-4: kept: %s", (_what, text) => {
    expect(sanitize(text)).toBe(text);
  });

  it("HIST-4: marks that only form when others are removed are removed too", () => {
    expect(sanitize("a <thi<｜x｜>nk >")).not.toContain("<think");
    expect(sanitize("a <<|x|>think>secret</think> b")).toBe("a");
    expect(sanitize("a <|<|<|<|<|<|x|>|>|>|>|>|> b")).toBe("a");
    expect(sanitize("<|x|>a <think <think <think <think <think <think")).toBe("a");
  });
});

const PIECES = [
  ...'<>/[]{}`~|｜\\"\n :a=>é😀',
  ...[
    "think",
    "<think>",
    "</think>",
    "<final>",
    "<|x|>",
    "```",
    "~~~\n",
    "\n\n",
    "word ",
    "- ",
    "\u00a0",
    "\r\n",
  ],
  ...["<tool_call>", "</tool_call>", "<tool_result>", "<invoke>", "</minimax:tool_call>", "<function=", "{}"],
  ...[
    "[Tool Call: y]",
    "\nArguments: ",
    "[Tool Result for ID 7]",
    "[Historical context: z]",
    "[TOOL_CALL]",
    "📖 Read: f",
  ],
];
const anyText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
);

describe("any text", () => {
  it("HIST-4: cleaning twice is cleaning once, and nothing ever grows", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = sanitize(text);
        expect(clean.length).toBeLessThanOrEqual(text.length);
        expect(sanitize(clean)).toBe(clean);
      }),
      { numRuns: 2_000 },
    );
  });

  it("HIST-4: code stays to the letter, whatever is removed around it", () => {
    const leaks = [
      "<think>x</think>",
      "<|end|>",
      '<tool_call>{"a":1}</tool_call>',
      "[Historical context: x]",
      "",
    ];
    const inCode = fc
      .array(fc.constantFrom(...PIECES.filter((piece) => !/[`~]/.test(piece))))
      .map((p) => p.join(""));
    const paragraph = fc.tuple(fc.constantFrom(...leaks), inCode, fc.constantFrom(...leaks));
    fc.assert(
      fc.property(fc.array(paragraph, { minLength: 1, maxLength: 5 }), (paragraphs) => {
        const fences = paragraphs.map(([, code]) => fence(code));
        const text = paragraphs
          .map(([before, code, after]) => `a ${before}\n${fence(code)}\n${after} z`)
          .join("\n\n");
        const clean = sanitize(text);
        for (const code of fences) expect(clean).toContain(code);
        expect(clean.startsWith("a ")).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("P13: of a text that is nothing but markup, what stands before it is left, and of endless code all of it", () => {
    expect(sanitize(`Hello. ${"<think>x</think> and ".repeat(40_000)}`)).toBe("Hello.");
    const code = "`x` and ".repeat(40_000).trim();
    expect(sanitize(`<final>${code}</final>`)).toBe(`${code}</final>`);
  });

  it.each([
    ...["<", "<think>", "<think></think>", "<think", "</think>", "<think>`", "` ", "```\n", "~~~\n", "``` "],
    ...["<|a|>", "<|a<|b|>c|>", "`<|x|>", "<|<|x|>|>``\n\n<invoke>`＜", "[a]\n{", "[TOOL_CALL]", "> > - "],
    ...[
      "[Tool Call: x]\nArguments: {",
      '<tool_call>{\\"</tool_call>',
      "<tool_call a=b c=d\n",
      "📖 Read: ",
      "\n \n",
    ],
  ])("P13: a hostile megabyte of %j is cleaned in linear time", (piece) => {
    expectLinear(sanitize, piece);
  });
});
