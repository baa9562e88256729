import type { Command } from "./command.ts";
import { help } from "./help.ts";
import { send } from "./send.ts";
import { status } from "./status.ts";
import { whoami } from "./whoami.ts";

/** Every owner command, in the order of menus and help. */
export const commands: readonly Command[] = [send, status, whoami, help];
