import type { CallbackQuery } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { jsonOf, type Payload, textOf } from "./payload.ts";

/** What one person saw: nothing but the end of the waiting sign, a passing notice, or an alert to be closed. */
export interface CallbackAnswer {
  readonly queryId: string;
  readonly text: string;
  readonly isAlert: boolean;
}

const MAX_ANSWER = 200;

/** Presses that the bot has not answered: each takes one answer. */
export class CallbackQueries {
  readonly answers: CallbackAnswer[] = [];
  readonly #open = new Set<string>();
  #lastId = 8999;

  open(query: Pick<CallbackQuery, "from" | "data" | "message">): CallbackQuery {
    const id = String(++this.#lastId);
    this.#open.add(id);
    return { id, chat_instance: "1", ...query };
  }

  answer(payload: Payload): true {
    const text = textOf(payload, "text");
    if (text.length > MAX_ANSWER) throw badRequest("MESSAGE_TOO_LONG");
    const queryId = textOf(payload, "callback_query_id");
    if (!this.#open.delete(queryId)) {
      throw badRequest("query is too old and response timeout expired or query ID is invalid");
    }
    this.answers.push({ queryId, text, isAlert: jsonOf(payload, "show_alert") === true });
    return true;
  }
}
