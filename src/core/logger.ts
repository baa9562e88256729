import type { Logger } from "./ports/host.ts";

/** Warnings and errors on stderr, one line each; everything else is dropped. */
export const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (details, message) => write("warn", details, message),
  error: (details, message) => write("error", details, message),
};

/** Every text of a line, in its details and its errors too, passes `mask` before the logger gets it. */
export function maskedLogger(logger: Logger, mask: (text: string) => string): Logger {
  const line = (details: object, message: string) =>
    // An object stays an object.
    [masked(details, mask) as object, mask(message)] as const;
  return {
    debug: (details, message) => logger.debug(...line(details, message)),
    info: (details, message) => logger.info(...line(details, message)),
    warn: (details, message) => logger.warn(...line(details, message)),
    error: (details, message) => logger.error(...line(details, message)),
  };
}

/** Deeper there is nothing in our own lines, and somebody else's could go round in circles. */
const MAX_DEPTH = 6;

function masked(value: unknown, mask: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "…";
  const inner = (one: unknown) => masked(one, mask, depth + 1);
  if (value instanceof Error) return maskedError(value, inner);
  if (Array.isArray(value)) return value.map(inner);
  return isPlain(value) ? maskedMembers(value, inner) : value;
}

/** The same kind of error, for serializers that look at that. */
function maskedError(error: Error, inner: (value: unknown) => unknown): object {
  const { name, message, stack, cause } = error;
  const said = { ...error, name, message, stack, ...(cause === undefined ? {} : { cause }) };
  return Object.assign(Object.create(Object.getPrototypeOf(error)), maskedMembers(said, inner));
}

function maskedMembers(members: object, inner: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, inner(value)]));
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function write(level: string, details: object, message: string): void {
  const facts = Object.keys(details).length === 0 ? "" : ` ${JSON.stringify(details, errorsAsText)}`;
  process.stderr.write(`[bot-switchboard] ${level}: ${message}${facts}\n`);
}

function errorsAsText(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
