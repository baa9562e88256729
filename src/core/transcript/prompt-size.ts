import { ASKED_UNITS } from "../limits.ts";
import type { NewEntry } from "../ports/run.ts";
import { cutText } from "./limits.ts";

/** A row as a prompt holds it: what a person wrote beyond any platform's measure is cut, and stands whole in the transcript. */
export function promptSized<E extends NewEntry>(entry: E): E {
  const isLong = entry.content.some((block) => block.type === "text" && block.text.length > ASKED_UNITS);
  if (!isLong || entry.provenance?.kind !== "external_user") return entry;
  const content = entry.content.map((block) =>
    block.type === "text" ? { ...block, text: cutText(block.text, ASKED_UNITS).text } : block,
  );
  return { ...entry, content };
}
