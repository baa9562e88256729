import type { NativeCommandCall } from "../core/ports/command.ts";
import type { CommandUse } from "./command.ts";

/** What tells who reads an answer. */
export interface Asked {
  readonly call: Pick<NativeCommandCall, "from" | "isPublic">;
  readonly how: CommandUse["how"];
}

/** Others than the caller read the answer. */
export function readAlong({ call: { from, isPublic }, how }: Asked): boolean {
  return from.chatType !== "direct" && (how === "typed" || isPublic === true);
}
