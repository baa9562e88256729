/** A range of a text, in UTF-16 units, and what stands there instead. */
export interface Mask {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export const HIDDEN = "***";

/** Such ends may be shown: a mask must never be taken for something with a meaning. */
const HEAD = /^[\w.+-]{6}/;
const TAIL = /[\w.+=-]{4}$/;

/** Nothing of a short secret, the first six and last four characters of one with 18 or more. */
export function maskOf(secret: string): string {
  if (secret.length < 18) return HIDDEN;
  const head = HEAD.exec(secret.slice(0, 6));
  const tail = TAIL.exec(secret.slice(-4));
  return head && tail ? `${head[0]}…${tail[0]}` : HIDDEN;
}

export function isMask(value: string): boolean {
  return value === HIDDEN || (value.length === 11 && /^[\w.+-]{6}…[\w.+=-]{4}$/.test(value));
}

/** Said beside masked text, so that no model takes a mask for a value. */
export const MASK_NOTICE = "Masked values are not the real ones.";
