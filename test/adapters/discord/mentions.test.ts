import { describe, expect, it } from "vitest";
import { channelTypes } from "../../standins/discord/world.ts";
import { aBot, placeOf } from "./bot.ts";
import { readyWith } from "./commands.ts";

describe("discord: whatever the bot writes", () => {
  it("K06: every request body that carries words forbids all mentions: messages, threads, answers, follow-ups, edits", async () => {
    const bot = await aBot();
    const { discord, adapter } = bot;
    const host = await readyWith(bot);
    const bait = `@everyone @here <@${discord.owner.id}> <@&${discord.world.addRole("crew")}> `;
    const choices = [{ label: "@everyone", command: "/send off" }];
    host.onCommand = async () => ({ text: bait.repeat(60), choices });
    const question = discord.say("question?");
    const signal = new AbortController().signal;
    const general = placeOf(discord.general.id);
    const message = { deliveryId: "d", markdown: bait.repeat(60), replyToId: question.id, choices };
    await adapter.send(general, message, signal);
    discord.faults.next("POST", /\/messages$/, { kind: "status", status: 400, code: 160_002 });
    await adapter.send(general, { ...message, deliveryId: "e" }, signal);
    const forum = discord.addChannel("help", channelTypes.forum);
    await adapter.createThread?.(placeOf(forum.id), bait);
    await adapter.createThread?.(general, bait);
    await adapter.setTyping?.(general);
    const call = discord.slash("status");
    await discord.until(() => call.answers.length > 1, "the command was answered");
    const [posted] = discord.sent.filter(({ components }) => components.length > 0);
    const presses = [
      discord.pressAnswer(call, "@everyone"),
      discord.press(posted ?? { id: "" }, "@everyone"),
    ];
    await discord.until(
      () => presses.every(({ answers }) => answers.length > 0),
      "the presses were answered",
    );
    await adapter.stop();

    const bodies = discord.requests.flatMap(({ body }) => withWords(body));
    expect(bodies.length).toBeGreaterThan(10);
    for (const { allowed_mentions: allowed } of bodies) {
      expect(allowed).toMatchObject({ parse: [] });
      expect(
        Object.keys(Object(allowed)).filter((name) => name !== "parse" && name !== "replied_user"),
      ).toEqual([]);
      expect(Reflect.get(Object(allowed), "replied_user")).not.toBe(true);
    }
    expect(discord.sent.flatMap(({ pings }) => pings)).toEqual([]);
  });
});

type Members = Readonly<Record<string, unknown>>;

/** Every object in a body, at any depth, that has `content`: a message. */
function withWords(value: unknown): Members[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(withWords);
  // Own members of a parsed JSON object.
  return "content" in value ? [value as Members, ...inner] : inner;
}
