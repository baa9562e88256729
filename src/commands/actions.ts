import type { CommandReply } from "../core/ports/command.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";

/** What is done for one of the words that a command's first argument may be. */
export type Act = (use: CommandUse, parts: CommandParts) => Promise<string | CommandReply>;

/** Does what the first argument says, "list" where there is none; whoever says anything else is told how the command is used. */
export function byAction(actions: Readonly<Record<string, Act>>): Command["run"] {
  return async (use, parts) => {
    const [action = "list"] = use.args;
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
    const reply = act === undefined ? use.howTo : await act(use, parts);
    return typeof reply === "string" ? { text: reply } : reply;
  };
}
