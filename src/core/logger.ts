import type { Logger } from "./ports/host.ts";

/** Warnings and errors on stderr, one line each; everything else is dropped. */
export const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (details, message) => write("warn", details, message),
  error: (details, message) => write("error", details, message),
};

function write(level: string, details: object, message: string): void {
  const facts = Object.keys(details).length === 0 ? "" : ` ${JSON.stringify(details, errorsAsText)}`;
  process.stderr.write(`[bot-switchboard] ${level}: ${message}${facts}\n`);
}

function errorsAsText(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
