import { silence } from "../announce/silence.ts";
import { given } from "../given.ts";
import { sanitize } from "../transcript/sanitize.ts";

export type Spoken =
  /** `stripped`: the silence token that stood behind the text. */
  { readonly kind: "text"; readonly text: string; readonly stripped?: string } | { readonly kind: "silent" };

/**
 * What an agent said to others, out of what its model wrote: leaked markup and reasoning removed, silence tokens understood.
 * Every reply, exchange turn, announce and delivery passes here; the transcript keeps the model's exact text.
 */
export function spoken(written: string): Spoken {
  const heard = silence(written);
  if (heard.kind === "silent") return { kind: "silent" };
  const rest = silence(sanitize(heard.text));
  if (rest.kind === "silent" || rest.text.trim() === "") return { kind: "silent" };
  return { kind: "text", text: rest.text, ...given({ stripped: heard.stripped ?? rest.stripped }) };
}
