import type { Logger } from "../../src/core/ports/host.ts";

/** Keeps the warnings and errors. */
export interface FakeLogger extends Logger {
  readonly said: { readonly details: object; readonly message: string }[];
}

export function fakeLogger(): FakeLogger {
  const said: FakeLogger["said"] = [];
  const keep = (details: object, message: string) => void said.push({ details, message });
  return { said, debug: () => undefined, info: () => undefined, warn: keep, error: keep };
}
