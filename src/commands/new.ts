import { given } from "../core/given.ts";
import type { InboundMessage } from "../core/ports/chat.ts";
import { inboundRunId } from "../core/runs/run-id.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { localized } from "./words.ts";

/** `/new`: this chat's session begins anew, and what was said stays readable by its old id. What comes with it is the first message. */
export const fresh: Command = {
  spec: {
    name: "new",
    description: localized("new.description"),
    args: [{ name: "text", description: localized("new.text"), required: false, rest: true }],
    access: "owner",
  },
  async run(use, parts) {
    const { call, how, origin, words } = use;
    const id = inboundRunId(call.from, call.id);
    const message = firstMessage(use, parts);
    const session = await parts.sessions.get(origin.key);
    // A question may be about what people have just said in the room; without one the chat begins with nothing.
    const isClean = message === undefined && session?.resetBy !== id;
    if (isClean) await parts.overheard.letGo(origin.place.key);
    // A crash may have come between this and the answer; what has been said since then stays.
    if (session !== undefined) await parts.sessions.reset(origin.key, id);
    if (message !== undefined) {
      // A menu's call is no message that could be replied to.
      const command = given({ replyToId: how === "typed" ? call.id : undefined });
      await parts.intake({ message, origin, runId: `${id}#first`, taken: "agent", command });
    }
    return { text: words(session !== undefined || message !== undefined ? "new.done" : "new.none") };
  },
};

/** What many people are used to typing. */
export const reset: Command = { ...fresh, spec: { ...fresh.spec, name: "reset" } };

/** As if the owner had said it in a message of its own. */
function firstMessage(
  { call, args: [text = ""] }: CommandUse,
  { clock }: CommandParts,
): InboundMessage | undefined {
  const { id, from, sender, locale, guildId, message = { sentAtMs: clock.now() } } = call;
  if (text === "" && message.attachments === undefined) return undefined;
  return { ...message, id, from, sender, text, addressed: true, ...given({ locale, guildId }) };
}
