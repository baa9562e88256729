import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completeOrigin, originAt } from "../../../src/core/children/origin.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import { aSession, at } from "../session/a-session.ts";

const ROOM: Address = { channel: "discord", accountId: "bot-1", chatType: "channel", chatId: "100" };
const TOPIC: Address = {
  channel: "telegram",
  accountId: "default",
  chatType: "group",
  chatId: "-100111",
  threadId: "42",
};

describe("ANN-1: the origin at spawn", () => {
  it("is where the run answers, else where its session answers, else what the key tells", () => {
    const session = aSession("agent:main:discord:channel:100", { route: ROOM });
    expect(originAt(TOPIC, session)).toEqual(TOPIC);
    expect(originAt(undefined, session)).toEqual(ROOM);
    expect(originAt(undefined, aSession("agent:main:discord:channel:100"))).toEqual({
      channel: "discord",
      chatType: "channel",
      chatId: "100",
    });
    expect(originAt(undefined, aSession("agent:main:discord:channel:100:thread:200"))).toEqual({
      channel: "discord",
      chatType: "channel",
      chatId: "100",
      threadId: "200",
    });
    expect(originAt(undefined, aSession("agent:main:telegram:group:-100111:topic:42"))).toEqual({
      channel: "telegram",
      chatType: "group",
      chatId: "-100111",
      threadId: "42",
    });
  });

  it.each([
    "agent:main:main",
    "agent:main:cron:job1",
    "agent:main:hook:h1",
    "agent:main:telegram:direct:900",
  ])("C10 is unknown for %s without a chat: a person's id is no place", (key) => {
    expect(originAt(undefined, aSession(key))).toBeUndefined();
  });
});

describe("ANN-1: missing parts of the origin", () => {
  const partial = { channel: "discord", chatType: "channel", chatId: "100" } as const;

  it("come from the stored route of the same channel and account", () => {
    expect(completeOrigin(partial, ROOM)).toEqual(ROOM);
    expect(completeOrigin({ channel: "discord", accountId: "bot-1" }, ROOM)).toEqual(ROOM);
  });

  it.each<[string, Partial<Address>, Address]>([
    ["channel", { channel: "telegram", accountId: "bot-1" }, ROOM],
    ["account", { channel: "discord", accountId: "bot-2" }, ROOM],
    ["chat", partial, { ...ROOM, chatId: "101" }],
    ["kind of chat", partial, { ...ROOM, chatType: "direct" }],
    ["thread", { ...partial, threadId: "200" }, ROOM],
    ["thread", { ...partial, threadId: "200" }, { ...ROOM, threadId: "201" }],
  ])("never come from a route with another %s", (_part, frozen, route) => {
    expect(completeOrigin(frozen, route)).toBeUndefined();
  });

  it("C09: are not made up out of what else is known: without a route there is no place", () => {
    expect(completeOrigin(partial, undefined)).toBeUndefined();
    expect(completeOrigin({ channel: "discord" }, undefined)).toBeUndefined();
    expect(
      completeOrigin({ channel: "discord" }, { ...ROOM, channel: "telegram", chatId: "900" }),
    ).toBeUndefined();
  });

  it("C10: of an origin that nobody knew do not come from where its requester is now", () => {
    expect(completeOrigin(undefined, ROOM)).toBeUndefined();
  });

  it("do not put a room's news into one of its threads", () => {
    expect(completeOrigin(partial, { ...ROOM, threadId: "7" })).not.toMatchObject({ threadId: "7" });
  });

  const id = fc.constantFrom("a", "b");
  const parts = {
    channel: id,
    accountId: id,
    chatType: fc.constantFrom("direct", "group", "channel") as fc.Arbitrary<Address["chatType"]>,
    chatId: id,
    threadId: id,
  };
  const address = fc.record(parts, { requiredKeys: ["channel", "accountId", "chatType", "chatId"] });
  const piece = fc.record(parts, { requiredKeys: [] });

  it("C08: change nothing about a whole origin, wherever its requester is now", () => {
    fc.assert(
      fc.property(address, fc.option(address, { nil: undefined }), (frozen, route) => {
        expect(completeOrigin(frozen, route)).toEqual(frozen);
      }),
    );
  });

  it("change nothing that was known, and come from one route alone", () => {
    fc.assert(
      fc.property(piece, fc.option(address, { nil: undefined }), (frozen, route) => {
        const whole = completeOrigin(frozen, route);
        if (whole === undefined) return;
        expect(whole).toMatchObject(frozen);
        for (const part of ["channel", "accountId", "chatType", "chatId"] as const) {
          expect(whole[part]).toBe(frozen[part] ?? route?.[part]);
        }
      }),
    );
  });

  it("are complete whenever there is an answer", () => {
    fc.assert(
      fc.property(piece, address, (frozen, route) => {
        const whole = completeOrigin(frozen, route);
        if (whole !== undefined) expect(whole).toMatchObject(at(whole.channel, whole));
      }),
    );
  });
});
