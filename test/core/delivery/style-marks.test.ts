import { describe, expect, it } from "vitest";
import { renderDiscord } from "../../../src/adapters/discord/outbound.ts";
import { renderTelegram } from "../../../src/adapters/telegram/outbound.ts";
import { renderWebchat } from "../../../src/adapters/webchat/outbound.ts";
import { renderWhatsApp } from "../../../src/adapters/whatsapp/outbound.ts";

const PLATFORMS: readonly (readonly [string, (markdown: string) => readonly string[]])[] = [
  ["Discord", (markdown) => renderDiscord(markdown)],
  ["Telegram", (markdown) => renderTelegram(markdown).map(({ plain }) => plain)],
  ["WhatsApp", (markdown) => renderWhatsApp(markdown)],
  // Only a text that is too long for one part is rendered.
  ["webchat", (markdown) => [renderWebchat(`${markdown}\n\n${"x".repeat(100)}`, 100)[0] ?? ""]],
];

describe.each(PLATFORMS)("DELIV-1 L03: bars on %s", (_, render) => {
  it.each(["loading ||||||||||      20%", "||||", "a |||| b", "||||||"])(
    "L03: four bars and more hide nothing, so they stay: %j",
    (text) => {
      expect(render(text)).toEqual([text]);
    },
  );
});

describe("L03: bars in pairs", () => {
  it.each([
    ["||a|| ||b||", "<tg-spoiler>a</tg-spoiler> <tg-spoiler>b</tg-spoiler>"],
    ["|||a|||", "<tg-spoiler>|a</tg-spoiler>|"],
    ["||a||||b||", "<tg-spoiler>a</tg-spoiler><tg-spoiler>b</tg-spoiler>"],
    ["||**a**||", "<tg-spoiler><b>a</b></tg-spoiler>"],
    ["||a **b||** c", "||a <b>b||</b> c"],
    ["a || b || c", "a || b || c"],
  ])("L03: %j", (markdown, html) => {
    expect(renderTelegram(markdown).map((part) => part.html)).toEqual([html]);
  });
});
