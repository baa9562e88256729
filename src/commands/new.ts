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
    const { call, how, origin, attempt, words } = use;
    const message = firstMessage(use, parts);
    const { sessionId } = await attempt.remembered(async () => {
      // A question may be about what people have just said in the room; without one the chat begins with nothing.
      if (message === undefined) await parts.overheard.letGo(origin.place.key);
      return { sessionId: await sessionBefore(use, parts) };
    });
    if (sessionId !== null) await parts.sessions.reset(origin.key, sessionId);
    if (message !== undefined) {
      const runId = `${inboundRunId(call.from, call.id)}#first`;
      // A menu's call is no message that could be replied to.
      const command = given({ replyToId: how === "typed" ? call.id : undefined });
      await parts.intake({ message, origin, runId, taken: "agent", command });
    }
    return { text: words(sessionId !== null || message !== undefined ? "new.done" : "new.none") };
  },
};

/** What many people are used to typing. */
export const reset: Command = { ...fresh, spec: { ...fresh.spec, name: "reset" } };

/** The conversation that ends here; null: none has begun before the command came. */
async function sessionBefore(
  { origin, attempt }: CommandUse,
  { sessions }: CommandParts,
): Promise<string | null> {
  const session = await sessions.get(origin.key);
  return session !== undefined && attempt.wasThere(session.sessionStartedAtMs) ? session.sessionId : null;
}

/** As if the owner had said it in a message of its own. */
function firstMessage(
  { call, args: [text = ""] }: CommandUse,
  { clock }: CommandParts,
): InboundMessage | undefined {
  const { id, from, sender, locale, guildId, message = { sentAtMs: clock.now() } } = call;
  if (text === "" && message.attachments === undefined) return undefined;
  return { ...message, id, from, sender, text, addressed: true, ...given({ locale, guildId }) };
}
