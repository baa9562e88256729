import { z } from "zod";

/** A closed object whose unknown keys are answered with the allowed ones. */
export function closed<S extends z.ZodRawShape>(shape: S) {
  const allowed = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown key ${issue.keys.map((key: string) => `"${key}"`).join(", ")}; allowed: ${allowed}`
        : undefined,
  });
}

export const personIds = z.array(z.union([z.string().trim().min(1), z.number().int()]));

/** Names of session tools, patterns with `*`, or `group:sessions` for all of them. */
export const toolNames = z.array(z.string().min(1));

/** Rules only take tools away: `deny` beats `allow`, and without an `allow`, or with an empty one, everything else stays. */
export const toolRules = { allow: toolNames.optional(), deny: toolNames.default([]) };
