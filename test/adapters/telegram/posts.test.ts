import { describe, expect, it } from "vitest";
import { Posts } from "../../../src/adapters/telegram/posts.ts";
import { renderRichTelegram } from "../../../src/adapters/telegram/rich-parts.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { at } from "../../fakes/memory-adapter.ts";

const CHAT = "-1005";
const heard = (id: string, text: string) => ({ id, text, from: at("telegram", "channel", CHAT) });

/** A post that Telegram has shown to others, and does not answer before it is told to. */
function aSlowPost(posts: Posts, markdown: string) {
  const [part] = renderRichTelegram(markdown);
  if (part === undefined) throw new Error("There is nothing to post.");
  let answer = (_: string) => {};
  const sending = posts.during(CHAT, part, () => new Promise((resolve) => (answer = resolve)));
  return { answer: (id: string) => answer(id), sending };
}

describe("N09: what the bot posts in a channel", () => {
  it("N09 TG-1: other words are somebody else's at once, however long a post takes", async () => {
    const clock = fakeClock();
    const posts = new Posts(clock);
    const { answer, sending } = aSlowPost(posts, "news");
    expect(await posts.has(heard("7", "a person's post"))).toBe(false);
    expect(clock.pending()).toBe(0);
    answer("8");
    await sending;
  });

  it.each([
    ["**bold** <b> & [a link](https://example.org)", "bold <b> & a link"],
    ["ask @ann_example\n\n\n- one\n- two", "ask @\u2060ann_example\n\n• one\n• two"],
    ["**bold** [a link](https://example.org)", "bold a link (https://example.org)"],
    ["1. [x] *done*\n\n| a | [b](https://example.org) |\n|---|---|", "1. [x] done\na | b"],
  ])("N09: %j is known by what Telegram shows of it, before the answer", async (markdown, shown) => {
    const clock = fakeClock();
    const posts = new Posts(clock);
    const { answer, sending } = aSlowPost(posts, markdown);
    const asked = posts.has(heard("7", shown));
    expect(clock.pending()).toBe(1);
    answer("7");
    await sending;
    expect(await asked).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  it("N09 TG-1: nobody waits longer than three seconds for a post that is never answered", async () => {
    const clock = fakeClock();
    const posts = new Posts(clock);
    aSlowPost(posts, "news");
    const asked = posts.has(heard("7", "news"));
    await clock.advance(3000);
    expect(await asked).toBe(false);
  });
});
