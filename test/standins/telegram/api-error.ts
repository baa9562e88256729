import type { ResponseParameters } from "grammy/types";

/** An answer `{ ok: false }`: what Telegram says when it refuses a call. */
export class ApiError extends Error {
  readonly code: number;
  readonly parameters: ResponseParameters | undefined;

  constructor(code: number, description: string, parameters?: ResponseParameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export const badRequest = (reason: string, parameters?: ResponseParameters) =>
  new ApiError(400, `Bad Request: ${reason}`, parameters);
