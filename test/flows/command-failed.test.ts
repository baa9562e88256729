import { describe, expect, it } from "vitest";
import { aBoard } from "../fakes/a-board.ts";
import { at, memoryAdapter } from "../fakes/memory-adapter.ts";

describe("a command that cannot be carried out", () => {
  it("CMD: whoever looks at a waiting notice is told in their language, and a whole chat is not", async () => {
    let isBroken = false;
    const ownIds = () => {
      if (isBroken) throw new Error("planted failure");
      return [];
    };
    const telegram = Object.assign(memoryAdapter("telegram"), { ownIds });
    const board = await aBoard({ adapters: [telegram] });
    const from = at("telegram", "group", "-100");
    isBroken = true;
    expect(await telegram.calls("status", "", { from, locale: "es" })).toMatch(/^Algo salió mal/);
    expect(await telegram.calls("status", "", { from, isPublic: true })).toBeUndefined();
    expect(board.complaints.join("\n")).toMatch(/planted failure/);
  });
});
