import { describe, expect, it } from "vitest";
import { toDeliveryError } from "../../../src/adapters/whatsapp/delivery-error.ts";
import type { WhatsAppOptions } from "../../../src/adapters/whatsapp/index.ts";
import { deliveryFailureOf } from "../../../src/core/errors.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { failureOf, offline, startedBot } from "./started.ts";

describe.each(LIBRARIES)("whatsapp with Baileys $version: sending", (library) => {
  const started = (options?: WhatsAppOptions) => startedBot(library, options);

  it("L06 WA-2: Markdown arrives in WhatsApp's own marks, links as text", async () => {
    const bot = await started();
    await bot.send(
      bot.addressOf(bot.group("Ops")),
      "**bold** and *italic*, see [docs](https://example.com/a_b)",
    );
    const [sent] = bot.server.sent;
    expect(sent?.text?.trim()).toBe("*bold* and _italic_, see docs (https://example.com/a_b)");
  });

  it("K06: numbers and names in a text mention nobody", async () => {
    const bot = await started();
    await bot.send(bot.addressOf(bot.group("Ops")), "@15550002222 @990000000000003 @all done");
    const [sent] = bot.server.sent;
    expect(sent).toMatchObject({ mentions: [] });
    expect(sent?.message.extendedTextMessage?.contextInfo?.nonJidMentions ?? 0).toBe(0);
  });

  it("WA-2: the same delivery sent twice is one message; ids look like those of WhatsApp Web", async () => {
    const bot = await started();
    const ops = bot.addressOf(bot.group("Ops"));
    const first = await bot.send(ops, "once");
    const again = await bot.send(ops, "once");
    expect(again).toEqual(first);
    expect(first.messageIds).toEqual([expect.stringMatching(/^3EB0[0-9A-F]{18}$/)]);
    expect(bot.server.sent).toHaveLength(1);
    expect(bot.server.repeated).toEqual(first.messageIds);
  });

  it("WA-2: a reply quotes the message it answers, in the first part only", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "lid");
    const id = await bot.server.say(bot.alice, "a question", { in: ops });
    await bot.host.texts(1);
    await bot.send(bot.addressOf(ops), "word ".repeat(1500), { replyToId: id });
    await bot.send(bot.addressOf(ops), "to something unknown", { replyToId: "3AUNKNOWN" });
    expect(bot.server.sent.map(({ quotedId }) => quotedId)).toEqual([id, undefined, undefined]);
    expect(bot.server.sent[0]?.message.extendedTextMessage?.contextInfo).toMatchObject({
      participant: bot.alice.jid("lid"),
      quotedMessage: { conversation: "a question" },
    });
  });

  it.each([
    ["463", { retryable: false }],
    ["421", { retryable: true, retryAfterMs: 5000 }],
    ["599", { retryable: true }],
  ])("M02: error %s in the server's answer: %j", async (code, expected) => {
    const bot = await started();
    bot.server.refuseNext(code);
    const failure = await failureOf(bot.send(bot.addressOf(bot.group("Ops")), "hello"));
    expect(failure).toEqual({ ...expected, partsSent: 0 });
  });

  it("WA-2: messages to a group ask for its members once, again after somebody joined, who then can read them", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "lid");
    const cy = bot.server.addPerson({ name: "Cy", phone: "15550004444", lid: "990000000000004" });
    for (const text of ["one", "two"]) await bot.send(bot.addressOf(ops), text);
    bot.server.addMember(ops, cy, bot.alice);
    await bot.heard(await bot.server.say(bot.alice, "welcome", { in: ops }));
    await bot.send(bot.addressOf(ops), "three");
    expect(bot.server.queries.filter((query) => query === `w:g2/query ${ops.jid}`)).toHaveLength(2);
    expect(bot.server.sent.map(({ readBy }) => readBy.includes("Cy"))).toEqual([false, false, true]);
  });

  it("WA-2: a group that moved to LIDs refuses one message; the next attempt is written for its new addresses", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "pn");
    await bot.send(bot.addressOf(ops), "before");
    ops.addressing = "lid";
    const failure = await failureOf(bot.send(bot.addressOf(ops), "after"));
    expect(failure).toMatchObject({ retryable: true, partsSent: 0 });
    await bot.send(bot.addressOf(ops), "after");
    expect(bot.server.refused.map(({ error }) => error)).toEqual(["421"]);
    expect(bot.server.sent.map(({ text }) => text?.trim())).toEqual(["before", "after"]);
  });

  it("WA-2: choices are left out, the text stays as it is", async () => {
    const bot = await started();
    const choices = [{ label: "Yes", token: "t1" }];
    await bot.send(bot.addressOf(bot.alice), "Sure? Type yes.", { choices });
    const [sent] = bot.server.sent;
    expect(sent?.text).toBe("Sure? Type yes.");
    expect(Object.keys(sent?.message ?? {})).not.toContain("buttonsMessage");
  });

  it("LOG: neither texts nor keys are logged, whatever happens", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.server.say(bot.alice, "secret words", { in: ops, damaged: true });
    await bot.host.texts(1);
    bot.host.answer = () => {
      throw new Error("planted failure of the host");
    };
    await bot.server.say(bot.alice, "secret words", { addressing: "lid", alternative: false });
    await bot.host.texts(2);
    bot.server.refuseNext("403");
    await failureOf(bot.send(bot.addressOf(ops), "secret words"));
    bot.reconnects = false;
    bot.server.disconnect(401);
    await bot.host.until(() => bot.host.log.some(({ level }) => level === "error"), "the end was logged");
    const log = JSON.stringify(bot.host.log);
    expect(log).not.toContain("secret words");
    expect(bot.adapter.secrets?.().filter((secret) => log.includes(secret))).toEqual([]);
  });

  it("M02: nobody at that address, or no such group, is final", async () => {
    const bot = await started();
    const nobody = { ...bot.addressOf(bot.alice), chatId: "15550009999@s.whatsapp.net" };
    const noGroup: Address = { ...nobody, chatType: "group", chatId: "120363999999999999@g.us" };
    expect(await failureOf(bot.send(nobody, "hello?"))).toMatchObject({ retryable: false });
    expect(await failureOf(bot.send(noGroup, "hello?"))).toMatchObject({ retryable: false });
  });

  it("WA-2: typing is shown while connected and costs nothing while not", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.adapter.setTyping?.(bot.addressOf(ops));
    await bot.server.until(() => bot.server.typing.length === 1);
    expect(bot.server.typing).toEqual([ops.jid]);
    await offline(bot, async () => bot.adapter.setTyping?.(bot.addressOf(ops)));
    expect(bot.server.typing).toHaveLength(1);
  });
});

describe("whatsapp: what the server's errors mean", () => {
  it.each([
    [400, { retryable: false }],
    [403, { retryable: false }],
    [404, { retryable: false }],
    [405, { retryable: false }],
    [406, { retryable: false }],
    [463, { retryable: false }],
    [421, { retryable: true, retryAfterMs: 5000 }],
    [429, { retryable: true, retryAfterMs: 60_000 }],
    [479, { retryable: true, retryAfterMs: 5000 }],
    [500, { retryable: true }],
    [503, { retryable: true }],
    [599, { retryable: true }],
  ])("M02: %d: %j", (code, expected) => {
    const error = toDeliveryError(new Error("refused"), 2, code);
    expect(deliveryFailureOf(error)).toEqual({ ...expected, partsSent: 2 });
    expect(error.message).toContain(String(code));
  });
});
