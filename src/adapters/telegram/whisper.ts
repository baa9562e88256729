import type { AdapterHost } from "../../core/ports/chat.ts";
import type { NativeCommandCall } from "../../core/ports/command.ts";
import { saidBy } from "./delivery-error.ts";
import { asGrammySignal } from "./grammy-signal.ts";
import { addressOf, senderOf, type TelegramEvent, wordsOf } from "./inbound.ts";
import { asAnswer, SHOWN_WITHIN_MS } from "./press.ts";
import { lookOf, type Room, readably, topicOf } from "./send.ts";

/** A command in a group that only its sender and the bot see: the bot's menu says so (`is_ephemeral`). */
export interface Whisper {
  readonly call: NativeCommandCall;
  readonly ephemeralId: number;
  readonly receiverId: number;
}

/** Undefined for every other update, and for whatever is whispered but no command. */
export function toWhisper(event: TelegramEvent): Whisper | undefined {
  const { message, update_id } = event.update;
  const { ephemeral_message_id: ephemeralId, from } = message ?? {};
  if (!message || ephemeralId === undefined || !from || from.is_bot) return undefined;
  const words = wordsOf(message, event.me);
  const [, name, text = ""] = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(words.text) ?? [];
  if (name === undefined || words.isForAnotherBot) return undefined;
  const locale = from.language_code;
  const call = {
    // Telegram uses the ids of such messages again.
    id: `whisper-${update_id}`,
    name: name.toLowerCase(),
    text,
    from: addressOf(message, event),
    sender: senderOf(message),
    ...(locale ? { locale } : {}),
    message: { sentAtMs: message.date * 1000 },
  };
  return { call, ephemeralId, receiverId: from.id };
}

/** Shows the answer to the same person alone. Nothing else is ever sent in its place, as everybody would read that. Never rejects. */
export async function answerWhisper(whisper: Whisper, host: AdapterHost, room: Room): Promise<void> {
  const { call } = whisper;
  const reply = await host.onCommand(call);
  if (!reply) return;
  try {
    for (const part of asAnswer(reply.text)) {
      await readably(part, (text, markup) => whisperBack(whisper, room, { text, markup }));
    }
  } catch (error) {
    const about = { command: call.name, chatId: call.from.chatId, error: saidBy(error) };
    host.logger.warn(about, "The answer to a command that only its sender sees could not be shown.");
  }
}

/** Telegram takes an answer for 15 seconds only. */
function whisperBack(
  { call: { from }, ephemeralId, receiverId }: Whisper,
  { api }: Room,
  { text, markup }: { readonly text: string; readonly markup: { readonly parse_mode?: "HTML" } },
) {
  const signal = asGrammySignal(AbortSignal.timeout(SHOWN_WITHIN_MS));
  const onlyThere = {
    ephemeral_message_parameters: { receiver_user_id: receiverId },
    reply_parameters: { ephemeral_message_id: ephemeralId },
  };
  const options = { ...topicOf(from), ...lookOf(undefined), ...onlyThere, ...markup };
  return api.sendMessage(Number(from.chatId), text, options, signal);
}
