import type { InboundMessage } from "./chat.ts";

/** Words in a room that were not meant for the bot. Let go: without the message, so that it is recognised when it is handed over again. */
export interface OverheardWords {
  /** Of the run that the message would be. */
  readonly id: string;
  readonly heardAtMs: number;
  readonly message?: InboundMessage;
}
