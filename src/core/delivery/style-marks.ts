import type { MarkedToken, Tokens } from "marked";
import type { Style } from "./dialect.ts";

/** The begin or end of a style that GFM has no syntax for. */
interface StyleMark {
  readonly type: "styleMark";
  readonly style: Style;
  readonly raw: string;
  readonly isOpening: boolean;
}

export type InlineToken = MarkedToken | StyleMark;

const SPOILER = "||";
const BARS = literal(SPOILER);
const TAG_STYLES: ReadonlyMap<string, Style> = new Map([
  ["b", "bold"],
  ["strong", "bold"],
  ["i", "italic"],
  ["em", "italic"],
  ["u", "underline"],
  ["ins", "underline"],
  ["s", "strike"],
  ["del", "strike"],
  ["strike", "strike"],
  ["tg-spoiler", "spoiler"],
]);

interface Candidate {
  readonly name: string;
  readonly style: Style;
  readonly mayOpen: boolean;
  readonly mayClose: boolean;
}

/**
 * Finds `||spoilers||` and the simple HTML tags (`<u>…</u>`) among the tokens of one text. Only marks that come in properly
 * nested pairs are styles; the others remain the text or tag that they are.
 */
export function withStyleMarks(tokens: readonly MarkedToken[]): readonly InlineToken[] {
  if (!tokens.some(mayHoldMark)) return tokens;
  const found = splitAtBars(tokens);
  const opened: { at: number; name: string }[] = [];
  found.forEach((token, at) => {
    const candidate = candidateOf(found, at);
    if (!candidate) return;
    const { name, style, mayOpen, mayClose } = candidate;
    const opening = opened.at(-1);
    if (mayClose && opening?.name === name) {
      opened.pop();
      // Four bars, or forty, hide nothing: they draw a line.
      if (name === SPOILER && opening.at === at - 1) return;
      const raw = found[opening.at]?.raw ?? name;
      found[opening.at] = { type: "styleMark", style, raw, isOpening: true };
      found[at] = { type: "styleMark", style, raw: token.raw, isOpening: false };
    } else if (mayOpen) opened.push({ at, name });
  });
  return found;
}

function mayHoldMark(token: MarkedToken): boolean {
  if (token.type === "html") return tagCandidate(token.raw) !== undefined;
  return token.type === "text" && token.text.includes(SPOILER);
}

function splitAtBars(tokens: readonly MarkedToken[]): InlineToken[] {
  const found: InlineToken[] = [];
  for (const token of tokens) {
    if (token.type !== "text" || !token.text.includes(SPOILER)) {
      found.push(token);
      continue;
    }
    const [first = "", ...others] = token.text.split(SPOILER);
    if (first !== "") found.push(literal(first));
    for (const text of others) {
      found.push(BARS);
      if (text !== "") found.push(literal(text));
    }
  }
  return found;
}

function literal(text: string): Tokens.Text {
  return { type: "text", raw: text, text };
}

function candidateOf(tokens: readonly InlineToken[], at: number): Candidate | undefined {
  const token = tokens[at];
  if (token?.type === "html") return tagCandidate(token.raw);
  if (token !== BARS) return undefined;
  const before = tokens[at - 1]?.raw.at(-1) ?? " ";
  const after = tokens[at + 1]?.raw[0] ?? " ";
  const mayOpen = /\S/.test(after) && !/[\p{L}\p{N}]/u.test(before);
  const mayClose = /\S/.test(before) && !/[\p{L}\p{N}]/u.test(after);
  return { name: SPOILER, style: "spoiler", mayOpen, mayClose };
}

function tagCandidate(raw: string): Candidate | undefined {
  const [, slash, tag = ""] = /^<(\/?)([a-z-]+)>$/i.exec(raw) ?? [];
  const style = TAG_STYLES.get(tag.toLowerCase());
  return style && { name: tag.toLowerCase(), style, mayOpen: slash === "", mayClose: slash === "/" };
}
