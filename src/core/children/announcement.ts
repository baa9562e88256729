import type { ChildOutcome } from "../ports/child.ts";

/** The labels of an announcement, as a model may write them: at the beginning of a line, perhaps bold. */
const LABEL =
  /^[ \t]*(?:[*_]{1,3})?(status|result|notes|stats)(?:[*_]{1,3})?[ \t]*:[ \t]*(?:[*_]{1,3}(?=\s|$))?[ \t]*/i;

const STATUS: Readonly<Record<ChildOutcome["status"], string>> = {
  ok: "success",
  error: "error",
  timeout: "timeout",
  killed: "stopped",
};

export interface AnnouncementParts {
  readonly outcome: ChildOutcome;
  /** What the announce step wrote; absent where no step was held. */
  readonly written?: string;
  /** One line, or "" for none. */
  readonly stats: string;
}

/**
 * Status, Result, Notes and the stats line, always in this form. The status is the runtime's, whatever the text claims; a stats line that a model made
 * up is dropped.
 */
export function announcement({ outcome, written, stats }: AnnouncementParts): string {
  const { result, notes } = sections(written ?? "");
  const allNotes = [notes, outcome.error ?? ""].filter((text) => text !== "").join("\n");
  return [
    `Status: ${STATUS[outcome.status]}`,
    outcome.status === "ok" ? `Result: ${result || "(not available)"}` : "",
    allNotes === "" ? "" : `Notes: ${allNotes}`,
    stats,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** The parts of a text with labels; a text without a result label is a result as it stands. */
function sections(text: string): { readonly result: string; readonly notes: string } {
  const parts = new Map<string, string[]>();
  let name = "";
  let fence = "";
  for (const line of text.split("\n")) {
    const label = fence === "" ? LABEL.exec(line) : null;
    fence = fenceAfter(line, fence);
    name = label?.[1]?.toLowerCase() ?? name;
    if (!parts.has(name)) parts.set(name, []);
    parts.get(name)?.push(label === null ? line : line.slice(label[0].length));
  }
  const part = (of: string) => (parts.get(of) ?? []).join("\n").trim();
  return { result: [part(""), part("result")].filter((one) => one !== "").join("\n"), notes: part("notes") };
}

/** The mark of the code block that is open after this line; labels inside code are code. */
function fenceAfter(line: string, open: string): string {
  const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3);
  if (mark === undefined) return open;
  if (open === "") return mark;
  return mark === open ? "" : open;
}
