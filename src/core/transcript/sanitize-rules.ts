/** What happens to one kind of markup that models leak into their prose. */
export interface MarkupRule {
  /** The marks as they are written; any end mark of the rule ends a block that any of its marks began. */
  readonly marks: readonly string[];
  /** What goes. A block without its end mark reaches to the end of the text; a closed block must have one. */
  readonly removes: "mark" | "block" | "closed block" | "up to the next [Tool";
  /** What must follow an opening mark; prose that only mentions the mark goes on differently. */
  readonly payload?: RegExp;
  /** What to do with an opening mark that has no such payload; by default it stays, and so does its end mark. */
  readonly otherwise?:
    | "remove the mark"
    | "remove the block if it is closed"
    | "remove the block if it is closed and begins a line"
    | "remove the block if the text speaks MiniMax";
  /** What belongs to the mark and goes with it. */
  readonly takes?: "call arguments" | "line end";
  /** One space stays where two words would run together. */
  readonly separates?: true;
}

/** A JSON value, another call tag, or nothing more. */
const CALL =
  /\s*(?:[[{]|<\s*(?:[a-z]\w{0,30}:)?(?:tool_calls?|tool_result|function_calls?|function_response|function|invoke|parameters?|arguments?)\b|(?:[\w.-]{1,80}\s{0,4})?<arg_key>|(?![\s\S]))/iy;
/** `{…}`, `[…]` or `tool => …`. */
const LEGACY_CALL = /\s*(?:[[{]|\w+\s*=>)/y;

/** The whole of what is removed, in prose only: code spans are exempt. The first rule with a mark decides. */
export const MARKUP_RULES: readonly MarkupRule[] = [
  { marks: ["<|…|>"], removes: "mark", separates: true },
  { marks: ["<think>", "<thinking>", "<thought>", "<antthinking>"], removes: "block" },
  { marks: ["<final>"], removes: "mark" },
  { marks: ["<relevant-memories>", "<relevant_memories>"], removes: "block" },
  { marks: ["<minimax:tool_call>"], removes: "block", payload: CALL, otherwise: "remove the mark" },
  {
    marks: ["<invoke>"],
    removes: "block",
    payload: CALL,
    otherwise: "remove the block if the text speaks MiniMax",
  },
  ...each(
    ["<tool_call>", "<tool_calls>", "<function_call>", "<function_calls>", "<function>", "<parameter>"],
    { removes: "block", payload: CALL },
  ),
  ...each(["<tool_result>", "<function_response>"], {
    removes: "block",
    payload: CALL,
    otherwise: "remove the block if it is closed and begins a line",
  }),
  ...each(["[TOOL_CALL]", "[TOOL_RESULT]"], {
    removes: "block",
    payload: LEGACY_CALL,
    otherwise: "remove the block if it is closed",
  }),
  { marks: ["[tool_name] {", "[END_TOOL_REQUEST]"], removes: "closed block" },
  { marks: ["[Tool Call: …]"], removes: "mark", takes: "call arguments" },
  { marks: ["[Tool Result …]"], removes: "up to the next [Tool" },
  { marks: ["[Historical context: …]"], removes: "mark", takes: "line end" },
  { marks: ["🛠️ Exec: …"], removes: "mark", takes: "line end" },
];

function each(marks: readonly string[], rule: Omit<MarkupRule, "marks">): MarkupRule[] {
  return marks.map((mark) => ({ marks: [mark], ...rule }));
}
