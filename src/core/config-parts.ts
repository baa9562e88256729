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

export const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an agent id is 1–64 of a–z 0–9 _ -, lower case");

export const chatType = z.enum(["direct", "group", "channel"]);
export const dmScope = z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]);

export const personIds = z.array(z.union([z.string().trim().min(1), z.number().int()]));

/** Names of session tools, patterns with `*`, or `group:sessions` for all of them. */
export const toolNames = z.array(z.string().min(1));

/** Rules only take tools away. */
export const toolRules = {
  allow: toolNames
    .optional()
    .describe(
      "The only tools that stay: names, patterns with * or group:sessions. Without it, or empty, all stay that deny does not name.",
    ),
  deny: toolNames
    .default([])
    .describe("Tools that are taken away, whatever allow says: names, patterns with * or group:sessions."),
};
