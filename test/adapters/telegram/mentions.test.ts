import { expect, it } from "vitest";
import { renderTelegram } from "../../../src/adapters/telegram/outbound.ts";
import { aBot, GROUP, placeOf, sendTo } from "./bot.ts";

const FORMS: readonly string[] = [
  "@alice_doe",
  "@alice\\_doe",
  "@al\\_ice",
  "@**alice**",
  "@*alice*",
  "@al**ice**xx",
  "@~~alice~~",
  "@<b>alice</b>",
  "*@*alice",
  "@&#97;lice",
  "&#64;alice",
  "@al&#95;ice",
  "https://@alice",
  "https://(@alice",
  "see https://.@alice",
  "http://-@alice_x",
  "http://x.example:@alice/",
  "https://x.example,@alice",
  "https://x.example/@alice @daisy",
  "[@alice](https://x.example)",
  "@[alice](https://x.example)",
  "| @alice | @b\\_ob |\n|--|--|\n| @carol | x |",
  "# @alice",
  "> @alice",
  "- @alice",
  "||@alice||",
  "@alice@bobby",
  "x.@alice",
  "x-@alice",
  "/@alice",
  "@@alice",
  "`@`alice",
  "```\n@alice\n```\n@dave",
  "[x](tg://user?id=1)",
  "[x](TG:user?id=1)",
];

it("K06 TG-2: no name is called, however Markdown or an address dresses it up", async () => {
  const made = await aBot();
  for (const form of FORMS) await sendTo(made, placeOf(GROUP), form, { deliveryId: form });
  const called = made.telegram.sent.filter(({ entities }) =>
    entities.some(({ type }) => type === "mention" || type === "text_mention"),
  );
  expect(made.telegram.sent).toHaveLength(FORMS.length);
  expect(called.map(({ text }) => text)).toEqual([]);
});

it("K06 TG-2: addresses of mail and web pages stay what they are", () => {
  for (const text of [
    "me@example.org",
    "https://medium.com/@alice/a-post",
    "https://x.example:8080/a/@bob",
  ]) {
    expect(renderTelegram(text).map(({ plain }) => plain)).toEqual([text]);
  }
});
