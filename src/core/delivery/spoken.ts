import { silence } from "../announce/silence.ts";
import { given } from "../given.ts";
import { sanitize } from "../transcript/sanitize.ts";

export type Spoken =
  /** `stripped`: the silence token that stood behind the text. */
  { readonly kind: "text"; readonly text: string; readonly stripped?: string } | { readonly kind: "silent" };

/** One removes, the next finds nothing; a token behind a code block that was taken off may uncover a little more. */
const MAX_PASSES = 4;

/**
 * What an agent said to others, out of what its model wrote: leaked markup and reasoning removed, silence tokens understood.
 * Every reply, exchange turn, announce and delivery passes here; the transcript keeps the model's exact text. Total, linear, idempotent, never longer.
 */
export function spoken(written: string): Spoken {
  let text = written;
  let stripped: string | undefined;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const heard = silence(text);
    if (heard.kind === "silent") return { kind: "silent" };
    stripped ??= heard.stripped;
    const said = sanitize(heard.text);
    if (said === text) break;
    text = said;
  }
  return text.trim() === "" ? { kind: "silent" } : { kind: "text", text, ...given({ stripped }) };
}
