/** Whether a pattern with `*` (any text) fits the whole text; case does not matter, and a blank pattern fits nothing. */
export function matchesPattern(pattern: string, text: string): boolean {
  const pieces = pattern.trim().toLowerCase().split("*");
  const whole = text.toLowerCase();
  const [head = "", ...others] = pieces;
  const tail = others.pop();
  if (tail === undefined) return head !== "" && head === whole;
  if (!whole.startsWith(head) || !whole.endsWith(tail)) return false;
  const end = whole.length - tail.length;
  let at = head.length;
  for (const piece of others) {
    const found = whole.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= end;
}
