import { expect, it } from "vitest";
import { commandRun, createCommandHandler } from "../../../src/core/inbound/command-run.ts";
import type { CommandRouter } from "../../../src/core/ports/command.ts";
import type { ClaimedRun, RunRecord } from "../../../src/core/ports/engine.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { at } from "../../fakes/memory-adapter.ts";

it("CMD RUN-2: what a command is about is found once, also when a store that is out of reach makes it begin anew within one claim", async () => {
  const clock = fakeClock();
  const sender = { id: "1", isBot: false };
  const queued = commandRun(
    { id: "5", name: "stop", text: "", from: at("telegram", "direct", "1"), sender },
    "in:5",
  );
  let stored: RunRecord = { ...queued, state: "running", attempt: 1, enqueuedAtMs: clock.now() };
  const claimed: ClaimedRun = {
    ...queued,
    attempt: 1,
    interrupted: true,
    signal: new AbortController().signal,
    whileWaiting: (work) => work(),
    async checkpoint(payload) {
      stored = { ...stored, payload };
    },
  };
  const looks: number[] = [];
  const said: unknown[] = [];
  let isBroken = true;
  const router: Pick<CommandRouter, "run"> = {
    async run(call, _how, attempt) {
      said.push(call);
      said.push(await attempt?.remembered(async () => ({ look: looks.push(looks.length) })));
      if (isBroken) throw new Error("out of reach");
      return undefined;
    },
  };
  const handle = createCommandHandler({
    // Only `run` is called.
    router: router as CommandRouter,
    findOrigin: () => Promise.reject(new Error("nobody is answered")),
    queue: { get: async () => stored },
    clock,
  });
  await expect(handle(claimed)).rejects.toThrow("out of reach");
  isBroken = false;
  expect(await handle(claimed)).toEqual({ done: null });
  expect(looks).toHaveLength(1);
  expect(said).toEqual([queued.payload, { look: 1 }, queued.payload, { look: 1 }]);
});
