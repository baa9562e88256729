import type { AutocompleteInteraction } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import type { Completion } from "../../core/ports/command.ts";
import { shorten } from "../../core/text/shorten.ts";
import { type CallContext, callerOf } from "./caller.ts";
import { inTime } from "./in-time.ts";

const most = 25;
const longest = 100;

/** Suggests what the person may mean by what is typed so far; nothing where that cannot be found out. Never rejects. */
export async function suggest(typing: AutocompleteInteraction, context: CallContext): Promise<void> {
  const { logger } = context.host;
  const details = (error: unknown) => ({ command: typing.commandName, error: messageOf(error) });
  const found = await completionsFor(typing, context).catch((error: unknown) => {
    logger.warn(details(error), "Suggestions for a command could not be found.");
    return [];
  });
  // Discord waits three seconds; whoever types on is asked about anew.
  await inTime(typing.respond(fitting(found))).catch((error: unknown) => {
    logger.debug(details(error), "Suggestions for a command came too late.");
  });
}

async function completionsFor(
  typing: AutocompleteInteraction,
  { host, accountId }: CallContext,
): Promise<readonly Completion[]> {
  const caller = await callerOf(typing, accountId);
  if (!caller) return [];
  const { name: argument, value: typed } = typing.options.getFocused(true);
  return host.onComplete({ ...caller, name: typing.commandName, argument, typed });
}

/** A name may be cut; a value that is cut would mean something else. */
function fitting(found: readonly Completion[]): { name: string; value: string }[] {
  return found
    .map(({ name, value }) => ({ name: shorten(name.trim(), longest) || value, value }))
    .filter(({ value }) => value !== "" && value.length <= longest)
    .slice(0, most);
}
