import type { ContentBlock, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { Json } from "../core/ports/host.ts";
import { cutText } from "../core/transcript/limits.ts";

/** UTF-16 units of what a tool call brings with it. */
const NAME_UNITS = 128;
const TITLE_UNITS = 500;
const INPUT_UNITS = 16_384;

/** A tool call as the last update of it left it. */
export interface ToolCallState {
  readonly id: string;
  /** The tool, as far as the harness names it, or else its kind, such as "edit". */
  readonly name: string;
  /** What the call is to do, in words of the harness. */
  readonly title?: string;
  readonly input?: Json;
  readonly status: "open" | "completed" | "failed";
  readonly result: string;
}

/** ACP's `tool_call` and `tool_call_update` alike: what an update does not name stays as it was. */
export function withUpdate(call: ToolCallState, update: ToolCallUpdate): ToolCallState {
  const { name, kind, title, rawInput, status } = update;
  const kindName = kind === "other" ? undefined : kind;
  return {
    ...call,
    name: shortened(name || kindName || call.name, NAME_UNITS),
    ...(typeof title === "string" ? { title: shortened(title, TITLE_UNITS) } : {}),
    ...(rawInput === undefined ? {} : { input: boundedJson(rawInput) }),
    status: status === "completed" || status === "failed" ? status : call.status,
    result: resultIn(update) ?? call.result,
  };
}

export function newCall(id: string): ToolCallState {
  return { id, name: "tool", status: "open", result: "" };
}

/** Ids are kept and repeated, so they are cut where a harness makes stories of them. */
export function idOf({ toolCallId }: ToolCallUpdate): string {
  return shortened(toolCallId, NAME_UNITS);
}

/** At most so many UTF-16 units and a note. A copy, as a part of a string would keep all of it in memory. */
export function shortened(text: string, units: number): string {
  const { text: short, cut } = cutText(text, units);
  return cut ? Buffer.from(short, "utf16le").toString("utf16le") : short;
}

/** The words of a block, or in brackets what stands for them. */
export function wordsOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return block.uri;
    case "resource":
      return "text" in block.resource ? block.resource.text : block.resource.uri;
    case "image":
    case "audio":
      return `(${block.type})`;
    default:
      return block satisfies never;
  }
}

/** What people are shown goes before what the tool returned. */
function resultIn({ content, rawOutput }: ToolCallUpdate): string | undefined {
  const shown = content?.map(shownText).join("\n") ?? "";
  if (shown !== "" || rawOutput === undefined || rawOutput === null) return shown || undefined;
  return typeof rawOutput === "string" ? rawOutput : jsonText(rawOutput);
}

function shownText(content: ToolCallContent): string {
  switch (content.type) {
    case "content":
      return wordsOf(content.content);
    case "diff":
      return `(changed ${content.path})`;
    case "terminal":
      return "(a terminal)";
    default:
      return content satisfies never;
  }
}

function boundedJson(value: unknown): Json {
  const text = jsonText(value);
  // It came as JSON.
  return text !== undefined && text.length <= INPUT_UNITS ? (value as Json) : "(too long to be kept)";
}

/** Undefined for what is nested too deeply to be written. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
