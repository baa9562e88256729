import fc from "fast-check";

const MARKS = [
  "*",
  "**",
  "***",
  "_",
  "__",
  "~~",
  "`",
  "``",
  "||",
  "\\",
  "&",
  "&amp;",
  "<",
  ">",
  "[",
  "]",
  "(",
  ")",
  "![",
];
const LINES = [
  "\n",
  "\n\n",
  "\n  ",
  "\n    ",
  "  \n",
  "\n===\n",
  "\n---\n",
  "\n> ",
  "\n- ",
  "\n  - ",
  "\n1. ",
  "\n# ",
  "\n#### ",
];
const FENCES = ["```", "\n```ts\n", "\n```\n", "\n~~~\n", "\n- ```\n  "];
const WORDS = [
  "a",
  "word ",
  "x".repeat(30),
  "@name_x",
  "@123456",
  "2*3",
  "http://x.example/z?a_b=c",
  "](http://a.example/b?c=1&d=2)",
];
const BLOCKS = [
  "\n| a | b |\n|---|---|\n| c | d |\n",
  "<u>",
  "</u>",
  "<br>",
  "[a]: http://a.example\n",
  "![i](u)",
];
const GRAPHEMES = ["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "😀", "\ud83d", "\udc00", "\0", "\u200d"];

/** Everything that Markdown knows, in any order: mostly broken, often deep, with graphemes and half characters in between. */
export const wildMarkdown = fc
  .array(fc.constantFrom(...MARKS, ...LINES, ...FENCES, ...WORDS, ...BLOCKS, ...GRAPHEMES), { maxLength: 60 })
  .map((bits) => bits.join(""));

/** Words, punctuation that means nothing, and graphemes of several units, in paragraphs; no indentation, which would be code. */
export const plainProse = fc
  .array(
    fc.constantFrom(
      "word",
      "a",
      "Überlänge",
      "नमस्ते",
      "漢字",
      "😀",
      "👩‍👩‍👧‍👦",
      "🇩🇪🇫🇷",
      "e\u0301",
      "x".repeat(25),
      " ",
      " ",
      " ",
      "\n",
      "\n\n",
      ", ",
      ".",
    ),
    { maxLength: 80 },
  )
  .map((bits) => bits.join("").replace(/^ +/gm, ""));

/** Lines of code, indented, blank, with backticks and marks that must stay as they are. */
export const codeLines = fc.array(
  fc.constantFrom(
    "",
    "  ",
    "if (a < b && c > d) {",
    "    return `x`;",
    "}",
    "a **b** _c_ [d](e)",
    "# no heading",
    "- no item",
    "😀 e\u0301",
  ),
  { minLength: 1, maxLength: 30 },
);

export const withoutSpace = (text: string) => text.replace(/\s+/g, "");
