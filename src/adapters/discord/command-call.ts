import type { ButtonInteraction, ChatInputCommandInteraction } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import type { CommandReply, CommandSpec, NativeCommandCall } from "../../core/ports/command.ts";
import { toButtons } from "./buttons.ts";
import { type CallContext, callerOf } from "./caller.ts";
import { inTime } from "./in-time.ts";
import { renderDiscord } from "./outbound.ts";
import { noMentions } from "./send.ts";

type Call = ChatInputCommandInteraction | ButtonInteraction;
type Command = Pick<NativeCommandCall, "name" | "text">;

const ephemeral = 64;

/**
 * Acknowledges the call at once (Discord waits three seconds), lets the core carry it out, and shows the answer to the caller
 * alone: a press on a message that nobody else sees changes that message. A call that cannot be acknowledged is not carried
 * out. Never rejects.
 */
export async function answerCall(call: Call, command: Command, context: CallContext): Promise<void> {
  const { logger } = context.host;
  const details = (error: unknown) => ({ command: command.name, error: messageOf(error) });
  const changesMessage = call.isButton() && call.message.flags.has(ephemeral);
  try {
    await inTime<unknown>(changesMessage ? call.deferUpdate() : call.deferReply({ flags: ephemeral }));
  } catch (error) {
    logger.warn(details(error), "A command could not be acknowledged, so it was not carried out.");
    return;
  }
  try {
    const reply = await carryOut(call, command, context);
    await inTime(show(call, reply, { changesMessage, ...context }));
  } catch (error) {
    logger.warn(details(error), "The answer to a command could not be shown.");
  }
}

async function carryOut(
  call: Call,
  command: Command,
  { host, accountId }: CallContext,
): Promise<CommandReply | undefined> {
  const caller = await callerOf(call, accountId);
  return caller && host.onCommand({ ...caller, ...command });
}

/** The arguments as one would type them, in the order of the command. */
export function argumentText({ options }: ChatInputCommandInteraction, { args }: CommandSpec): string {
  const values = args.map(({ name }) => options.getString(name));
  const given = args.slice(0, values.findLastIndex((value) => value !== null) + 1);
  const typed: string[] = [];
  for (const [at, { choices, rest }] of given.entries()) {
    const value = values[at] ?? choices?.[0];
    // What comes after a gap would be taken for what is missing; without it the answer says what to name.
    if (value === undefined) break;
    typed.push(rest === undefined && /\s/.test(value) ? `"${value.replaceAll('"', "'")}"` : value);
  }
  return typed.join(" ");
}

/** Nothing to say: the waiting notice goes away, and a message that was pressed on stays as it is. */
async function show(
  call: Call,
  reply: CommandReply | undefined,
  { changesMessage, maxTextLength }: { readonly changesMessage: boolean; readonly maxTextLength: number },
): Promise<void> {
  const parts = renderDiscord(reply?.text ?? "", maxTextLength);
  if (parts.length === 0) return changesMessage ? undefined : call.deleteReply();
  for (const [index, content] of parts.entries()) {
    const components = index === parts.length - 1 ? toButtons(reply?.choices) : [];
    const body = { content, components, allowedMentions: noMentions };
    if (index === 0) await call.editReply(body);
    else await call.followUp({ ...body, flags: ephemeral });
  }
}
