import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SwitchboardError } from "../../errors.ts";

const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
]);

/**
 * Makes sure that `file` is there and may be opened. A missing file is made by `create` under another name and then appears
 * whole, so that an empty one has lost its contents: it is reported, never filled again. SQLite itself would fill it, and would
 * throw away a log that it finds without its database.
 * The folder is made with mode 0700, the file with 0600.
 */
export function prepareDatabaseFile(file: string, create: (emptyPath: string) => void): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  refuseNetworkFileSystem(folder, file);
  // The log first: a process that makes the store in this moment makes the file before the log.
  const logSize = sizeOf(`${file}-wal`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found && logSize > 0) {
    throw new SwitchboardError(
      "STORE_CORRUPT",
      `The store ${file} is missing while its log ${file}-wal is there: the database was moved or deleted without it. ` +
        "Nothing was changed. Put the database back beside its log, or move the log away to begin anew.",
    );
  }
  if (!found) createWhole(file, create);
  else refuseUnusable(file, found);
}

function refuseUnusable(file: string, found: Stats): void {
  if (!found.isFile()) {
    throw new SwitchboardError(
      "STORE_UNREACHABLE",
      `${file} is not a file. Choose another dataDir or move it away.`,
    );
  }
  if (found.size === 0) {
    throw new SwitchboardError(
      "STORE_CORRUPT",
      `The store ${file} is empty: its contents are lost (a crash of the disk, or something truncated it). ` +
        "Nothing was changed. Stop every process that uses it, then restore a backup, or move the file away to begin anew.",
    );
  }
}

/** SQLite believes its log about the number of pages and would notice only when it reads one that is gone. */
export function refuseTruncated(file: string, pages: number, pageBytes: number): void {
  const frameBytes = pageBytes + 24;
  // The log first: what leaves it in this moment is in the file already.
  const logged = Math.floor(sizeOf(`${file}-wal`) / frameBytes);
  const stored = Math.floor(sizeOf(file) / pageBytes);
  if (stored + logged >= pages) return;
  throw new SwitchboardError(
    "STORE_CORRUPT",
    `The store ${file} has ${stored} of its ${pages} pages: something cut it off. ` +
      "Nothing was changed. Stop every process that uses it, then restore a backup, or move the file away to begin anew.",
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function createWhole(file: string, create: (emptyPath: string) => void): void {
  const workshop = mkdtempSync(join(dirname(file), ".new-store-"));
  try {
    const fresh = join(workshop, "store");
    create(fresh);
    chmodSync(fresh, 0o600);
    publish(fresh, file);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

/** Another process that was faster wins. Some file systems have no hard links: there a copy has to do. */
function publish(fresh: string, file: string): void {
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (isTaken(error)) return;
    try {
      copyFileSync(fresh, file, constants.COPYFILE_EXCL);
    } catch (copyError) {
      if (!isTaken(copyError)) throw copyError;
    }
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

/** File locks do not work reliably across a network, and two processes would damage the file. */
function refuseNetworkFileSystem(folder: string, file: string): void {
  const name = networkFileSystems.get(statfsSync(folder).type);
  if (!name) return;
  throw new SwitchboardError(
    "STORE_UNREACHABLE",
    `${file} lies on a network file system (${name}), where SQLite cannot lock. Choose a dataDir on a local disk.`,
  );
}
