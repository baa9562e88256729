import { silence } from "../announce/silence.ts";
import type { ChildOutcome } from "../ports/child.ts";

/** The labels of an announcement, as a model may write them: at the beginning of a line, perhaps bold. */
const LABEL =
  /^[ \t]*(?:[*_]{1,3})?(status|result|notes|stats)(?:[*_]{1,3})?[ \t]*[:：][ \t]*(?:[*_]{1,3}(?=\s|$))?[ \t]*/i;

const STATUS: Readonly<Record<ChildOutcome["status"], string>> = {
  ok: "success",
  error: "error",
  timeout: "timeout",
  killed: "stopped",
};

/** What a status may be called; anything else behind that label says more. */
const STATUS_WORD =
  /^[*_]*(?:success(?:ful)?|ok(?:ay)?|done|complete[d]?|error|fail(?:ed|ure)|time(?:d )?out|stopped|killed|unknown)[*_.! ]*$/i;
/** What Markdown reads as more than a line of text, and only at the beginning of a line. */
const BLOCK = /^(?:`{3}|~{3}|#{1,6}[ \t]|[-*+][ \t]|\d+[.)][ \t]|>|\|)/;

const PLACES =
  /\bagent:[\w.-]+:[^\s'"`,;)]+|\bfile:\/\/\S+|(?<!\w)[a-z]:\\[^\s'"`]+|(?<![\w:/.])(?:\/[^\s'"`/:,;)]+){2,}\/?/gi;

export interface AnnouncementParts {
  readonly outcome: ChildOutcome;
  /** What the announce step wrote; absent where no step was held. */
  readonly written?: string;
  /** One line, or "" for none. */
  readonly stats: string;
}

/**
 * Status, Result, Notes and the stats line, always in this form. The status is the runtime's, whatever the text claims; a stats line that a model made
 * up is dropped. Of a task that did not go well only the reason is told: what was written on the way is no result.
 */
export function announcement({ outcome, written, stats }: AnnouncementParts): string {
  const status = `Status: ${STATUS[outcome.status]}`;
  if (outcome.status !== "ok")
    return joined([status, labelled("Notes", forPeople(outcome.error ?? "")), stats]);
  const { result, notes } = sections(written ?? "");
  return joined([status, labelled("Result", result || "(not available)"), labelled("Notes", notes), stats]);
}

/** Paths and session keys in a reason are for those who run the bot; the requester's agent is told them. */
function forPeople(reason: string): string {
  return reason.replace(PLACES, "…");
}

/** A part of several lines is set apart: a table or a list would take what follows it for its own. */
function joined(parts: readonly string[]): string {
  const said = parts.filter((part) => part !== "");
  return said.reduce(
    (text, part, index) => `${text}${said[index - 1]?.includes("\n") ? "\n\n" : "\n"}${part}`,
  );
}

function labelled(label: string, text: string): string {
  if (text === "") return "";
  return `${label}:${BLOCK.test(text) ? "\n" : " "}${closed(text)}`;
}

type Label = "status" | "result" | "notes" | "stats";

/** The parts of a text with labels; a text without a result label is a result as it stands. */
function sections(text: string): Sections {
  const parts: Readonly<Record<Label, string[]>> = { status: [], result: [], notes: [], stats: [] };
  let current: Label = "result";
  let fence = "";
  for (const line of text.split("\n")) {
    const label = fence === "" ? LABEL.exec(line) : null;
    const content = line.slice(label?.[0].length ?? 0);
    fence = fenceAfter(content, fence);
    // One of the four, by the pattern.
    const name = label?.[1]?.toLowerCase() as Label | undefined;
    parts[name ?? current].push(content);
    // Status and stats are the runtime's, and a line long: what comes after them goes on with what was before.
    if (name === "result" || name === "notes") current = name;
  }
  const claimed = [
    ...parts.status.filter((claim) => !STATUS_WORD.test(claim)),
    ...parts.stats.filter((claim) => !/^runtime\b/i.test(claim)),
  ];
  const [result = "", notes = ""] = [parts.result, parts.notes].map((lines) => heard(lines.join("\n")));
  return { result: result || heard(claimed.join("\n")), notes };
}

/** Without a silence token that stands behind a label. */
function heard(text: string): string {
  const said = silence(text.trim());
  return said.kind === "silent" ? "" : said.text.trim();
}

interface Sections {
  readonly result: string;
  readonly notes: string;
}

/** The announce step wants silence, although it used the labels. */
export function isSilent(written: string): boolean {
  const { result, notes } = sections(written);
  return result === "" && notes === "";
}

/** A code block that was left open would swallow what follows. */
function closed(text: string): string {
  const open = text.split("\n").reduce((fence, line) => fenceAfter(line, fence), "");
  return open === "" ? text : `${text}\n${open}`;
}

/** The mark of the code block that is open after this line; labels inside code are code. */
function fenceAfter(line: string, open: string): string {
  const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  if (mark === "") return open;
  if (open === "") return mark.startsWith("`") && rest.includes("`") ? "" : mark;
  return mark.startsWith(open) && rest.trim() === "" ? "" : open;
}
