import type { Script } from "./a-board.ts";

/** What a session tool answered. */
export type Answer = { readonly [key: string]: unknown };

/**
 * An agent that does what it is told: a person's message is the input of sessions_send as JSON. Says "asked" in its chat and nothing in exchanges.
 * `answers` holds what it was answered, in order.
 */
export function asking(): { readonly script: Script; readonly answers: readonly Answer[] } {
  const answers: Answer[] = [];
  return {
    answers,
    async script({ request, text, call }) {
      if (request.trigger !== "user" && request.trigger !== "gateway") return "REPLY_SKIP";
      answers.push(await call("sessions_send", JSON.parse(text.slice(text.indexOf("{")))));
      return "asked";
    },
  };
}

/** The sessions_send of an `asking` agent. */
export function send(input: object): string {
  return JSON.stringify(input);
}
