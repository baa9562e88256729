import { CALL_DEPTH, CALL_UNITS, SAID_UNITS } from "../limits.ts";
import type { Json } from "../ports/host.ts";
import type { Block, NewEntry } from "../ports/run.ts";
import { cutText } from "../transcript/limits.ts";

/** A row that an agent made, within the limits of what is stored. */
export function boundedEntry(entry: NewEntry): NewEntry {
  return { ...entry, content: entry.content.map(boundedBlock) };
}

/** What a model passed in, as far as it is JSON; a note instead of what is too large or too deep for whoever reads it later. */
export function boundedJson(input: unknown): Json {
  try {
    const text = JSON.stringify(input ?? null) ?? "null";
    if (text.length > CALL_UNITS) return { omitted: `${text.length} characters of JSON` };
    const value: Json = JSON.parse(text);
    return isDeeper(value, CALL_DEPTH) ? { omitted: `nested deeper than ${CALL_DEPTH}` } : value;
  } catch {
    return null;
  }
}

function boundedBlock(block: Block): Block {
  if (block.type === "attachment") return block;
  if (block.type === "toolCall") {
    return block.arguments === undefined ? block : { ...block, arguments: boundedJson(block.arguments) };
  }
  return block.text.length <= SAID_UNITS ? block : { ...block, text: cutText(block.text, SAID_UNITS).text };
}

/** Without recursion, which would end with the stack. */
function isDeeper(value: Json, most: number): boolean {
  const open: { readonly value: Json | undefined; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > most) return true;
    for (const member of Object.values(next.value)) open.push({ value: member, depth });
  }
  return false;
}
