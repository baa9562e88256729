import type { InlineKeyboardMarkup } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { type Payload, recordOf } from "./payload.ts";

const MAX_BUTTONS = 100;
const MAX_DATA_BYTES = 64;

/** The inline keyboard of a call, refused where Telegram refuses it; undefined when there is none. */
export function keyboardIn(payload: Payload): InlineKeyboardMarkup | undefined {
  const markup = recordOf(payload, "reply_markup");
  if (!markup) return undefined;
  const rows: unknown = markup.inline_keyboard;
  if (!Array.isArray(rows)) throw badRequest("object expected as reply markup");
  const checked = rows.map((row: unknown) => (Array.isArray(row) ? row.map(checkedButton) : []));
  if (checked.flat().length > MAX_BUTTONS) throw badRequest("REPLY_MARKUP_TOO_LONG");
  return checked.flat().length > 0 ? { inline_keyboard: checked } : undefined;
}

function checkedButton(value: unknown) {
  const { text, callback_data } = { text: "", callback_data: "", ...Object(value) };
  if (String(text).trim() === "") throw badRequest("text buttons are unallowed in the inline keyboard");
  const bytes = Buffer.byteLength(String(callback_data));
  if (bytes < 1 || bytes > MAX_DATA_BYTES) throw badRequest("BUTTON_DATA_INVALID");
  return { text: String(text), callback_data: String(callback_data) };
}
