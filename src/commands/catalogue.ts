import type { Command } from "./command.ts";
import { help } from "./help.ts";
import { send } from "./send.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { subagents } from "./subagents.ts";
import { tools } from "./tools.ts";
import { whoami } from "./whoami.ts";

/** Every owner command, in the order of menus and help. */
export const commands: readonly Command[] = [send, status, tools, subagents, stop, whoami, help];
