import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Who runs here, told apart from an earlier process with the same pid. */
export interface ProcessIdentity {
  /** The machine and, where there are several, the world of pids in it (a container has its own). */
  readonly host: string;
  readonly pid: number;
  /** Changes with every start, also across a reboot; null where the system does not tell. */
  readonly startToken: string | null;
}

export function thisProcess(): ProcessIdentity {
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid"));
  const host = namespace === undefined ? hostname() : `${hostname()} ${namespace}`;
  return { host, pid: process.pid, startToken: look(process.pid).startToken };
}

/** Only what is certain: a process of another host, or one that cannot be looked at, counts as living. */
export function isSurelyDead(other: ProcessIdentity, self: ProcessIdentity): boolean {
  if (other.host !== self.host) return false;
  const seen = look(other.pid);
  if (!seen.exists) return true;
  return seen.startToken !== null && other.startToken !== null && seen.startToken !== other.startToken;
}

function look(pid: number): { readonly exists: boolean; readonly startToken: string | null } {
  if (!pidExists(pid)) return { exists: false, startToken: null };
  // Linux: "pid (name) state ppid …"; the name may hold anything, so count from its last bracket. Field 22 is the start time.
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return { exists: true, startToken: null };
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = ""] = fields;
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  // A zombie has a pid, but it runs no more.
  return { exists: !"ZX".includes(state), startToken: `${boot} ${fields[19]}` };
}

function pidExists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, but another user's.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
