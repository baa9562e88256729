/** JSON values: what crosses a process or a disk. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** The only source of time and chance in the core, so that tests own both. Times are Unix milliseconds. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms` (0–2^31-1); the returned function cancels. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
  uuid(): string;
}

/** Any pino-like logger fits: details first, then a sentence. */
export interface Logger {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
