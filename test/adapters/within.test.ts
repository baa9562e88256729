import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { within } from "../../src/adapters/within.ts";

const aSignal = () => new AbortController();

describe("the adapters' limits", () => {
  it("DELIV-1: work counts if it ends first, else the reason of whichever signal aborts first", async () => {
    const [one, other] = [aSignal(), aSignal()];
    expect(await within([one.signal, other.signal], Promise.resolve("done"))).toBe("done");
    const hanging = within([one.signal, other.signal], new Promise(() => {}));
    other.abort(new Error("the other"));
    await expect(hanging).rejects.toThrow("the other");
    await expect(within(other.signal, Promise.resolve("too late"))).rejects.toThrow("the other");
  });

  it("DELIV-1: nothing stays on a signal that lives on, whether the work ended or hangs for ever", async () => {
    const [longLived, short] = [aSignal(), aSignal()];
    await within([longLived.signal, short.signal], Promise.resolve());
    const hanging = within([longLived.signal, short.signal], new Promise(() => {}));
    short.abort(new Error("over"));
    await expect(hanging).rejects.toThrow("over");
    expect(getEventListeners(longLived.signal, "abort")).toEqual([]);
  });
});
