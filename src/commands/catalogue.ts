import type { CommandSpec } from "../core/ports/command.ts";
import { agents } from "./agents.ts";
import type { Command } from "./command.ts";
import { deliveries } from "./deliveries.ts";
import { help } from "./help.ts";
import { withMenuNames } from "./menu-names.ts";
import { fresh, reset } from "./new.ts";
import { pair } from "./pair.ts";
import { send } from "./send.ts";
import { sessions } from "./sessions.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { subagents } from "./subagents.ts";
import { tools } from "./tools.ts";
import { whoami } from "./whoami.ts";

/** Every owner command, in the order of menus and help. */
export const commands: readonly Command[] = [
  send,
  status,
  sessions,
  agents,
  tools,
  subagents,
  stop,
  fresh,
  reset,
  deliveries,
  pair,
  whoami,
  help,
];

/** What our commands are: for a host that puts them into its platforms' menus itself. */
export const commandSpecs: readonly CommandSpec[] = commands.map(({ spec }) => withMenuNames(spec));
