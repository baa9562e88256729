import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { isSurelyDead, thisProcess } from "../../../../src/core/engine/sqlite/process-identity.ts";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { holdRuns, openStore } from "./opened-store.ts";

const self = thisProcess();
const linux = process.platform === "linux";

/** A store in which a process with this identity holds the run "r". */
async function storeHeldBy(identity: { pid: number; startToken: string | null; host?: string }) {
  const store = openStore();
  const before = await store.engine();
  await before.queue.work("p", 1, holdRuns().handler);
  await before.queue.enqueue(aRun({ id: "r" }));
  await expect.poll(async () => (await before.queue.get("r"))?.state).toBe("running");
  await before.owners.acquire("bot");
  const { host = self.host, pid, startToken } = identity;
  store.database
    .prepare("UPDATE processes SET host = ?, pid = ?, start_token = ?")
    .run(host, pid, startToken);
  return store;
}

describe("O04: what a dead process held is free as soon as the store is opened", () => {
  it.each([
    ["its pid is gone", { pid: spawnSync("true").pid, startToken: "boot 1" }],
    ["its pid is gone and it had no start token", { pid: spawnSync("true").pid, startToken: null }],
    ["its pid was given to another process", { pid: process.ppid, startToken: "boot 1" }],
    ["it had this process' pid before a restart in place", { pid: process.pid, startToken: "boot 1" }],
    ["it had pid 1, as in a container, before a restart", { pid: 1, startToken: "boot 1" }],
    ["its row is damaged", { pid: 0, startToken: null }],
  ])("O04: %s", async (_, identity) => {
    const store = await storeHeldBy(identity);
    const next = await store.engine();
    const held = holdRuns();
    await next.queue.work("p", 1, held.handler);
    await expect.poll(() => held.claims).toMatchObject([{ id: "r", attempt: 2, interrupted: true }]);
    expect(await next.owners.acquire("bot")).toMatchObject({ epoch: 2 });
  });

  it.each([
    ["it lives", { pid: process.ppid, startToken: null }],
    ["it is this process", { pid: self.pid, startToken: self.startToken }],
    [
      "it is on another host, whose pids mean nothing here",
      { host: "elsewhere", pid: 1, startToken: "boot 1" },
    ],
  ])("O04: nothing is taken at once from a process of which is known that %s", async (_, identity) => {
    const store = await storeHeldBy(identity);
    const next = await store.engine();
    expect(await next.queue.get("r")).toMatchObject({ state: "running", attempt: 1 });
    expect(await next.owners.acquire("bot")).toEqual({
      heldBy: `process ${identity.pid} on ${"host" in identity ? identity.host : self.host}`,
    });
  });

  it("SEND-7 / O04: the waits of a dead process do not count, even before a heartbeat has noticed its death", async () => {
    const store = openStore();
    const [dying, living] = [
      await store.engine({ clock: manualClock() }),
      await store.engine({ clock: manualClock() }),
    ];
    await dying.queue.work("a", 1, holdRuns().handler);
    await living.queue.work("b", 1, holdRuns().handler);
    await dying.queue.enqueue(aRun({ id: "a", lane: "a", pool: "a" }));
    await living.queue.enqueue(aRun({ id: "b", lane: "b", pool: "b" }));
    await settle();
    await dying.queue.enqueue(aRun({ id: "a>b", lane: "b", pool: "b" }), { waiter: "a" });
    const back = () => living.queue.enqueue(aRun({ id: "b>a", lane: "a", pool: "a" }), { waiter: "b" });
    await expect(back()).rejects.toMatchObject({ code: "WAIT_CYCLE", details: { chain: ["b", "a", "b"] } });
    store.database
      .prepare("UPDATE processes SET pid = ? WHERE id = (SELECT owner FROM lanes WHERE lane = 'a')")
      .run(spawnSync("true").pid);
    expect(await back()).toBe("accepted");
  });

  it("O04: an owner lease of a dead process is free at once, even before a heartbeat has noticed its death", async () => {
    const store = openStore();
    const dying = await store.engine({ clock: manualClock() });
    await dying.owners.acquire("bot");
    const living = await store.engine({ clock: manualClock() });
    expect(await living.owners.acquire("bot")).toHaveProperty("heldBy");
    store.database
      .prepare("UPDATE processes SET pid = ? WHERE id = (SELECT holder FROM owners)")
      .run(spawnSync("true").pid);
    expect(await living.owners.acquire("bot")).toMatchObject({ epoch: 2 });
  });

  it.runIf(linux)("O04: a zombie is dead, although its pid is there", async () => {
    // The shell's child ends; sleep, which takes the shell's place, never fetches its exit status.
    const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void parent.kill());
    const [line] = await once(parent.stdout, "data");
    await expect.poll(() => isSurelyDead({ ...self, pid: Number(line), startToken: null }, self)).toBe(true);
  });

  it.runIf(linux)(
    "O04: a process is known by boot and start time, and a container's pids are a world of their own",
    () => {
      expect(self.startToken).toMatch(/^[0-9a-f-]{36} \d+$/);
      expect(self.host).toMatch(new RegExp(`^${hostname()} pid:\\[\\d+\\]$`));
    },
  );
});
