/** A range of a text, in UTF-16 units, and what stands there instead. */
export interface Mask {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export const HIDDEN = "***";

/** Nothing of a short secret, the first six and last four characters of one with 18 or more. */
export function maskOf(secret: string): string {
  if (secret.length < 18) return HIDDEN;
  const head = secret.slice(0, 6).replace(/[\ud800-\udbff]$/, "");
  const tail = secret.slice(-4).replace(/^[\udc00-\udfff]/, "");
  return `${head}…${tail}`;
}

export function isMask(value: string): boolean {
  return value === HIDDEN || (value.includes("…") && /^.{5,6}….{3,4}$/su.test(value));
}

/** Said beside masked text, so that no model takes a mask for a value. */
export const MASK_NOTICE = "Masked values are not the real ones.";
