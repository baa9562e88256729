import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { MESSAGE_UNITS } from "./limits.ts";

const TOO_LARGE: ErrorCode = "MESSAGE_TOO_LARGE";

/** A message to another session, a task, a message of the host program. `advice`: what to do instead of writing more. */
export function messageText(
  name: "message" | "task",
  advice = "send the main points, or several messages",
): z.ZodString {
  const tooLarge = { error: `at most ${MESSAGE_UNITS} characters; ${advice}`, params: { code: TOO_LARGE } };
  return z
    .string()
    .refine((text) => text.trim() !== "", `${name} is empty`)
    .refine((text) => text.length <= MESSAGE_UNITS, tooLarge)
    .meta({ minLength: 1, maxLength: MESSAGE_UNITS });
}

/** The code of wrong parameters: that of a text that is too long only when nothing else is wrong. */
export function inputCode({ issues }: z.ZodError): ErrorCode {
  const isTooLarge = issues.every((issue) => issue.code === "custom" && issue.params?.code === TOO_LARGE);
  return isTooLarge ? TOO_LARGE : "INPUT_INVALID";
}
