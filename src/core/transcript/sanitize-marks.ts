import { matchFrom } from "./match-from.ts";
import type { Span } from "./sanitize-code-spans.ts";
import { MARKUP_RULES, type MarkupRule } from "./sanitize-rules.ts";

/** One mark of a rule in a text. */
export interface Mark extends Span {
  readonly rule: MarkupRule;
  readonly kind: "opens" | "closes" | "stands alone";
  readonly inCode: boolean;
  /** The end mark of this opening mark, nested pairs counted. */
  partner?: Mark;
  /** The next end mark of the same rule, outside and inside code. */
  nextEnd?: Mark | undefined;
  nextEndInCode?: Mark | undefined;
}

const RULE_OF = new Map(MARKUP_RULES.flatMap((rule) => rule.marks.map((mark) => [mark.toLowerCase(), rule])));
const TAGS = [...RULE_OF.keys()].flatMap((mark) => /^<([a-z].*)>$/.exec(mark)?.[1] ?? []).join("|");
const TOOL_LABELS =
  "session status|exec|read|edit|write|patch|search|open|click|find|screenshot|update plan|tool call|tool result|function call|shell|command";
/** Every part begins with a literal and stops at the next one, so that no text is read twice. */
const MARK = new RegExp(
  [
    "([<＜][|｜][^|｜<>＜＞\\n]*[|｜][>＞])",
    `<\\s*(?:(/)\\s*)?([a-z]\\w{0,30}:)??(${TAGS})(?=[\\s/>=]|(?![\\s\\S]))([^<>]*>?)`,
    "\\[\\s*(?:(/)\\s*)?(tool_call|tool_result)\\s*\\]",
    "\\[(tool call:|tool result(?=[\\s:\\]])|historical context:)[^[\\]\\n]*(?:\\](?!\\()|(?![\\s\\S]))",
    "(\\[[\\w.:-]{1,120}\\][ \\t\\r]*\\n\\s*(?=\\{))|(\\[end_tool_request\\])",
    `^[ \\t]*(?:>[ \\t]*)?(?:${[
      `(?:⚠️?[ \\t]*)?(?:📊|🛠️?|📖|📝|🔍|🔎|⚙️?)[ \\t]*(?:${TOOL_LABELS})[ \\t]*:`,
      "⚠️?[ \\t]*🛠️?[ \\t](?=.*\\bfailed\\b)",
      "(?:tool[-_]?call|tool[-_]?result|function[-_]?call)[ \\t]*[:=]",
      "commentary[ \\t]+to=functions\\.",
    ].join("|")}).*`,
  ].join("|"),
  "gim",
);
/** Attributes up to the JSON value, in a call tag that was cut off before its `>`. */
const CUT_CALL = /(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"'{[]+)){0,50}\s*(?=[{[]|(?![\s\S]))/y;

/** The marks in `text`, in order and linked to the end marks that may close them, `most` at most. A tag that reaches into code is none. */
export function findMarks(text: string, code: readonly Span[], most: number): readonly Mark[] {
  const marks: Mark[] = [];
  const spanFrom = codeAhead(code);
  let at = 0;
  for (let match = matchFrom(MARK, text, at); match; match = matchFrom(MARK, text, at)) {
    const start = match.index;
    const { key, kind, end } = readMark(text, match);
    const rule = RULE_OF.get(key);
    at = end;
    const span = spanFrom(start);
    const inCode = span !== undefined && span.start <= start;
    const reachesIn = span !== undefined && !inCode && span.start < end && /^[<＜]/.test(match[0]);
    if (reachesIn) at = span.start;
    // In code only an end mark counts: it may close what began outside.
    else if (rule && (!inCode || kind === "closes")) marks.push({ rule, kind, start, end, inCode });
    if (marks.length === most) break;
  }
  pair(marks);
  tellNextEnds(marks);
  return marks;
}

/** The span that holds a place or comes next after it; asked for places in order. */
function codeAhead(code: readonly Span[]): (at: number) => Span | undefined {
  let next = 0;
  return (at) => {
    while ((code[next]?.end ?? Infinity) <= at) next++;
    return code[next];
  };
}

type Reading = { readonly key: string; readonly kind: Mark["kind"]; readonly end: number };

function readMark(text: string, match: RegExpExecArray): Reading {
  const end = match.index + match[0].length;
  if (match[4]) return readTag(text, match);
  const [, control, , , , , bar, bracket, marker, plain, plainEnd] = match;
  if (control) return { key: "<|…|>", kind: "stands alone", end };
  if (bracket) return { key: `[${bracket.toLowerCase()}]`, kind: bar ? "closes" : "opens", end };
  if (marker) return { key: `[${marker.toLowerCase()} …]`, kind: "opens", end };
  if (plain || plainEnd) return { key: "[tool_name] {", kind: plain ? "opens" : "closes", end };
  return { key: "🛠️ exec: …", kind: "stands alone", end };
}

function readTag(text: string, match: RegExpExecArray): Reading {
  const [, , slash, space = "", tag = "", rest = ""] = match;
  const end = match.index + match[0].length;
  const full = `<${space}${tag}>`.toLowerCase();
  const key = space === "" || RULE_OF.has(full) ? full : `<${tag.toLowerCase()}>`;
  if (slash && rest.endsWith(">")) return { key, kind: "closes", end };
  if (rest.endsWith(">")) return { key, kind: rest.endsWith("/>") ? "stands alone" : "opens", end };
  const nameEnd = end - rest.length;
  const cutEnd = nameEnd + (matchFrom(CUT_CALL, text, nameEnd)?.[0].length ?? -1);
  const isCut = !slash && (cutEnd === text.length || (cutEnd >= nameEnd && RULE_OF.get(key)?.payload));
  return isCut ? { key, kind: "opens", end: cutEnd } : { key: "", kind: "opens", end: nameEnd };
}

/** Pairs the opening and end marks of blocks as they nest. */
function pair(marks: readonly Mark[]): void {
  const open = new Map<MarkupRule, Mark[]>();
  for (const mark of marks) {
    if (mark.inCode || !mark.rule.removes.endsWith("block")) continue;
    const stack = open.get(mark.rule) ?? [];
    open.set(mark.rule, stack);
    if (mark.kind === "opens") stack.push(mark);
    const opener = mark.kind === "closes" ? stack.pop() : undefined;
    if (opener) opener.partner = mark;
  }
}

function tellNextEnds(marks: readonly Mark[]): void {
  const end = new Map<MarkupRule, Mark>();
  const endInCode = new Map<MarkupRule, Mark>();
  for (const mark of marks.toReversed()) {
    mark.nextEnd = end.get(mark.rule);
    mark.nextEndInCode = endInCode.get(mark.rule);
    if (mark.kind === "closes") (mark.inCode ? endInCode : end).set(mark.rule, mark);
  }
}
