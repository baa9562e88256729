/** The first match at or after `from`. The expression must be global or sticky; nothing is remembered between calls. */
export function matchFrom(expression: RegExp, text: string, from: number): RegExpExecArray | null {
  expression.lastIndex = from;
  return expression.exec(text);
}

/** All matches of a global expression that never matches nothing; unlike `matchAll` it makes no copy of it. */
export function* matchesIn(expression: RegExp, text: string): Generator<RegExpExecArray> {
  for (let match = matchFrom(expression, text, 0); match; ) {
    yield match;
    match = matchFrom(expression, text, match.index + match[0].length);
  }
}
