import type { APIChannel, Client } from "discord.js";
import { deliveryFailed, SwitchboardError } from "../../core/errors.ts";
import type { Address } from "../../core/ports/chat.ts";
import { shorten } from "../../core/text/shorten.ts";
import { toDeliveryError } from "./delivery-error.ts";
import { inTime, postInTime } from "./in-time.ts";
import { noMentions } from "./send.ts";

const announcementChannel = 5;
const forumChannel = 15;
const mediaChannel = 16;
const announcementThread = 10;
const publicThread = 11;
const longestName = 100;

const advice: ReadonlyMap<number, string> = new Map([
  [
    50013,
    "the bot needs the permissions Create Public Threads (in a forum: Create Posts) and Send Messages in Threads",
  ],
  [50024, "this kind of channel has no threads"],
]);

/**
 * Opens a public thread in the channel of `at`, beside it when `at` is itself a thread; in a forum, a post that begins with
 * the title. Direct chats have no threads: INPUT_INVALID. A refusal by Discord is DELIVERY_FAILED.
 */
export async function createThread(client: Client, at: Address, title: string): Promise<Address> {
  if (at.chatType === "direct") {
    const message = "Discord has no threads in direct chats. Start it from a server channel.";
    throw new SwitchboardError("INPUT_INVALID", message);
  }
  const name = nameFrom(title);
  try {
    const parent = await inTime(client.channels.fetch(at.chatId));
    const body = { name, ...kindOf(parent?.type, name) };
    // The shape of the answer is Discord's promise; discord.js types it as unknown.
    const made = (await postInTime(client.rest, `/channels/${at.chatId}/threads`, body)) as APIChannel;
    return { ...at, threadId: made.id };
  } catch (error) {
    throw refusalIn(error) ?? toDeliveryError(error, 0);
  }
}

/** What Discord refuses with a code that means something else for threads than for messages. */
function refusalIn(error: unknown): SwitchboardError | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  const remedy = typeof code === "number" ? advice.get(code) : undefined;
  if (remedy === undefined) return undefined;
  const message = `Discord opens no thread here (code ${code}): ${remedy}.`;
  return deliveryFailed(message, { retryable: false, partsSent: 0 }, error);
}

function kindOf(parentType: number | undefined, name: string): object {
  if (parentType === forumChannel || parentType === mediaChannel) {
    const allowed_mentions = { parse: noMentions.parse };
    return { message: { content: name, allowed_mentions } };
  }
  return { type: parentType === announcementChannel ? announcementThread : publicThread };
}

function nameFrom(title: string): string {
  return shorten(title.replaceAll(/\s+/g, " ").trim(), longestName) || "Thread";
}
