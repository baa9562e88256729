import type { InlineKeyboardMarkup } from "grammy/types";
import type { Choice } from "../../core/ports/command.ts";

const prefix = "sb";
const buttonsPerRow = 2;
const mostButtons = 100;
const longestDataBytes = 64;

/** The command behind a button of ours, and the topic of the message that it stands below. */
export interface ButtonData {
  readonly name: string;
  readonly text: string;
  readonly threadId?: string;
}

/**
 * Choices as buttons below a message. A button carries its topic, as Telegram tells nothing of an old message but its chat. A command that is
 * too long for Telegram's 64 bytes gets none, and neither do those beyond the hundred that a message takes.
 */
export function toKeyboard(choices: readonly Choice[] = [], threadId = ""): InlineKeyboardMarkup | undefined {
  const buttons = choices
    .map(({ label, command }) => ({
      text: label.trim() || command,
      callback_data: prefix + threadId + command,
    }))
    .filter(({ callback_data }) => Buffer.byteLength(callback_data) <= longestDataBytes)
    .slice(0, mostButtons);
  if (buttons.length === 0) return undefined;
  const rows = Math.ceil(buttons.length / buttonsPerRow);
  const row = (_: unknown, at: number) => buttons.slice(at * buttonsPerRow, (at + 1) * buttonsPerRow);
  return { inline_keyboard: Array.from({ length: rows }, row) };
}

/** Undefined for everybody else's buttons. */
export function readButton(data: string): ButtonData | undefined {
  const [, threadId, name, text = ""] = /^sb(\d*)\/([a-z]{1,32})(?: (.+))?$/.exec(data) ?? [];
  return name === undefined ? undefined : { name, text, ...(threadId ? { threadId } : {}) };
}
