import { type ErrorCode, messageOf, SwitchboardError } from "../../errors.ts";

const advice = {
  STORE_CORRUPT:
    "Nothing was changed. Stop every process that uses it and restore a backup, or save what `sqlite3 <file> .recover` finds; " +
    "moving the file away begins anew.",
  STORE_UNREACHABLE:
    "Check that the disk has room, that this user may write there, and that no other process holds the file.",
  INTERNAL: "This is a defect of bot-switchboard: please report it.",
} as const satisfies Partial<Record<ErrorCode, string>>;

/** What the driver threw, as the package's own error with the place and what to do. Own errors pass unchanged. */
export function databaseError(error: unknown, file: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  const code = codeFor(error);
  const what = {
    STORE_CORRUPT: "is damaged",
    STORE_UNREACHABLE: "cannot be used",
    INTERNAL: "refused a statement",
  }[code];
  return new SwitchboardError(code, `The store ${file} ${what}: ${messageOf(error)}. ${advice[code]}`, {
    cause: error,
  });
}

/** Somebody else holds a lock for the moment; nothing has happened yet. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|PROTOCOL)/.test(sqliteCodeOf(error));
}

function sqliteCodeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function codeFor(error: unknown): keyof typeof advice {
  if (error instanceof TypeError || error instanceof RangeError) return "INTERNAL";
  const sqliteCode = sqliteCodeOf(error);
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(sqliteCode)) return "STORE_CORRUPT";
  if (/^SQLITE_(ERROR|CONSTRAINT|MISUSE|MISMATCH|RANGE|TOOBIG)/.test(sqliteCode)) return "INTERNAL";
  return "STORE_UNREACHABLE";
}
