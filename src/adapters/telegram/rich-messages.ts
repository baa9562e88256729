import { type Refusal, refusalOf } from "./delivery-error.ts";
import { renderTelegram, type TelegramPart } from "./outbound.ts";
import { renderRichTelegram } from "./rich-parts.ts";

interface Sent {
  readonly message_id: number;
}

/** Which form a part is sent in: rich, if the host wants that and the Bot API server knows it. */
export class RichMessages {
  readonly #areWanted: boolean;
  readonly #tell: (what: string, refusal: Refusal) => void;
  #areKnown = true;

  /** `tell` hears why a text was not sent as a rich message. */
  constructor(areWanted: boolean, tell: (what: string, refusal: Refusal) => void) {
    this.#areWanted = areWanted;
    this.#tell = tell;
  }

  render(markdown: string): readonly TelegramPart[] {
    return this.#areWanted ? renderRichTelegram(markdown) : renderTelegram(markdown);
  }

  /**
   * One message: what is refused in the rich form is sent in the other one, once. Without an answer, or with one that tells to wait, the message is in doubt or
   * for later, and nothing else is sent in its place. A server that does not know rich messages is not asked again.
   */
  async send(
    { rich }: TelegramPart,
    sendRich: (html: string) => Promise<Sent>,
    sendHtml: () => Promise<Sent>,
  ): Promise<Sent> {
    if (rich === undefined || !this.#areKnown) return sendHtml();
    try {
      return await sendRich(rich);
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal || !mayBeForm(refusal)) throw error;
      const isUnknown = refusal.code === 404;
      if (isUnknown) this.#areKnown = false;
      const sent = await sendHtml();
      this.#tell(isUnknown ? unknownHere : refusedOnce, refusal);
      return sent;
    }
  }
}

const refusedOnce = "Telegram did not take a text as a rich message; it was sent as HTML.";
const unknownHere =
  "This Bot API server knows no rich messages; tables are sent as HTML until the next start.";

/** Telegram's words for it are written down nowhere. A refusal that has another reason is the same for the other form. */
function mayBeForm({ code, movedTo, retryAfterS }: Refusal): boolean {
  return code === 404 || (code === 400 && movedTo === undefined && retryAfterS === undefined);
}
