import { describe, expect, it } from "vitest";
import { aBoard, type Script, use } from "../fakes/a-board.ts";
import { childrenOf } from "../fakes/a-family.ts";
import { everythingIn, hangs, spawner } from "../fakes/a-spawner.ts";

const MAIN = "agent:main:main";

describe("the label of a child", () => {
  async function aBoardWith(child: Script) {
    const { script } = spawner(child);
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says("hi");
    await board.quiet();
    const spawn = (label: string) => use(board, MAIN, "sessions_spawn", { task: "look", label });
    const holders = async () => {
      const { sessions } = await board.gateway.call("sessions.list", { limit: 50 });
      // Rows of a list.
      const rows = sessions as readonly { key: string; label?: string }[];
      return rows.filter(({ label }) => label !== undefined).map(({ key, label }) => [key, label]);
    };
    return { board, spawn, holders };
  }

  it("SPAWN-2: is that of its session from the beginning, tidied", async () => {
    const { spawn, holders } = await aBoardWith(({ signal }) => hangs(signal));
    const { childSessionKey } = await spawn("  the\u200b  zebra \n count ");
    expect(await holders()).toEqual([[childSessionKey, "the zebra count"]]);
  });

  it("SPAWN-2: is refused while the child that has it works, without a trace", async () => {
    const { board, spawn } = await aBoardWith(({ signal }) => hangs(signal));
    await spawn("zebras");
    await board.quiet();
    const before = everythingIn(board);
    expect(await spawn("zebras")).toEqual({
      status: "error",
      code: "LABEL_IN_USE",
      error: expect.stringMatching(/"zebras".*another/i),
    });
    await board.quiet();
    expect(everythingIn(board)).toBe(before);
  });

  it("SPAWN-2: goes from a child that has ended to the next that asks for it", async () => {
    const { board, spawn, holders } = await aBoardWith(() => "done");
    const { childSessionKey: first } = await spawn("zebras");
    await board.quiet();
    expect(await holders()).toEqual([[first, "zebras"]]);
    const { childSessionKey: second } = await spawn("zebras");
    await board.quiet();
    expect(second).not.toBe(first);
    expect(await holders()).toEqual([[second, "zebras"]]);
  });

  it("SPAWN-2: of sessions that nobody spawned is never taken away", async () => {
    const { board, spawn, holders } = await aBoardWith(() => "done");
    await board.gateway.call("sessions.patch", { sessionKey: MAIN, label: "zebras" });
    expect(await spawn("zebras")).toMatchObject({ code: "LABEL_IN_USE" });
    expect(await holders()).toEqual([["main", "zebras"]]);
  });

  it("SPAWN-2: of several that ask at once one gets it, also from a child that has ended", async () => {
    const { board, spawn, holders } = await aBoardWith(() => "done");
    await spawn("zebras");
    await board.quiet();
    const answers = await Promise.all(Array.from({ length: 4 }, () => spawn("zebras")));
    expect(answers.filter(({ status }) => status === "accepted")).toHaveLength(1);
    expect(answers.filter(({ code }) => code === "LABEL_IN_USE")).toHaveLength(3);
    expect(await holders()).toHaveLength(1);
    expect(childrenOf(board)).toHaveLength(2);
  });

  it("SPAWN-2: opens no thread when it is taken", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: script } });
    const from = { channel: "discord", accountId: "default", chatType: "channel", chatId: "100" } as const;
    const input = '{"task":"look","label":"zebras","thread":true}';
    await board.discord.says(input, { from });
    await board.discord.says(input, { from });
    await board.quiet();
    expect(answers.map(({ status, code }) => code ?? status)).toEqual(["accepted", "LABEL_IN_USE"]);
    expect(board.discord.threads).toEqual(["zebras"]);
  });

  it.each([["  "], ["\u200b\u2060"], ["x".repeat(513)]])("SPAWN-2: %j is none", async (label) => {
    const { board, spawn } = await aBoardWith(() => "done");
    const before = everythingIn(board);
    expect(await spawn(label)).toMatchObject({ status: "error", code: "LABEL_INVALID" });
    expect(everythingIn(board)).toBe(before);
  });
});
