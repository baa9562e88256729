import { describe, expect, it } from "vitest";
import { Lanes } from "../../src/adapters/lanes.ts";

describe("the adapters' lanes", () => {
  it("DISC-1 TG-1 CHAN-1: work of one lane follows one another, other lanes do not wait, and idle waits for all", async () => {
    const lanes = new Lanes();
    const done: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const works = [
      lanes.run("a", async () => void done.push(await held.then(() => "a1"))),
      lanes.run("a", async () => void done.push("a2")),
      lanes.run("b", async () => void done.push("b1")),
    ];
    let isIdle = false;
    const idle = lanes.idle().then(() => {
      isIdle = true;
    });
    await works[2];
    expect([done, isIdle]).toEqual([["b1"], false]);
    release();
    await idle;
    expect(done).toEqual(["b1", "a1", "a2"]);
  });

  it("DISC-1 TG-1 CHAN-1 N05: work that fails tells its caller and holds nothing up", async () => {
    const lanes = new Lanes();
    const failing = lanes.run("a", () => Promise.reject(new Error("planted")));
    const next = lanes.run("a", async () => "next");
    await expect(failing).rejects.toThrow("planted");
    expect(await next).toBe("next");
    await lanes.idle();
  });
});
