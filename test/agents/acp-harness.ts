import { join } from "node:path";
import { compiled } from "../compiled.ts";

/** The harness of acp-harness-main.ts, as a program for `node`. */
export function harnessProgram(): Promise<string> {
  return compiled(join(import.meta.dirname, "acp-harness-main.ts"), ["@agentclientprotocol/sdk", "zod"]);
}
