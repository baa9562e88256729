import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readButton, toKeyboard } from "../../../src/adapters/telegram/keyboard.ts";

const command = fc
  .tuple(fc.stringMatching(/^[a-z]{1,12}$/), fc.stringMatching(/^(?: [^\n\r\u2028\u2029]{1,60})?$/u))
  .map(([name, rest]) => ({ name, text: rest.slice(1), typed: `/${name}${rest}` }));
const threadId = fc.option(fc.stringMatching(/^[1-9]\d{0,9}$/), { nil: undefined });

describe("CMD-4: what a button carries", () => {
  it("CMD-4: is read back as it was written, never longer than Telegram's 64 bytes", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), threadId, (commands, thread) => {
        const choices = commands.map(({ typed }) => ({ label: "x", command: typed }));
        const buttons = toKeyboard(choices, thread)?.inline_keyboard.flat() ?? [];
        const data = buttons.map((button) => ("callback_data" in button ? button.callback_data : ""));
        expect(data.every((one) => Buffer.byteLength(one) <= 64)).toBe(true);
        const short = commands.filter(({ typed }) => Buffer.byteLength(`sb${thread ?? ""}${typed}`) <= 64);
        expect(data.map((one) => readButton(one))).toEqual(
          short.map(({ name, text }) => ({ name, text, ...(thread ? { threadId: thread } : {}) })),
        );
      }),
    );
  });

  it("CMD-4: a blank label or too many choices cost the text nothing", () => {
    const choices = Array.from({ length: 120 }, (_, n) => ({
      label: n === 0 ? " " : "x",
      command: `/send ${n}`,
    }));
    const buttons = toKeyboard(choices)?.inline_keyboard.flat() ?? [];
    expect(buttons[0]?.text).toBe("/send 0");
    expect(buttons).toHaveLength(100);
  });

  it("CMD-4: of anybody else is read as nothing", () => {
    fc.assert(
      fc.property(fc.string(), (data) => {
        fc.pre(!/^sb\d*\/[a-z]/.test(data));
        expect(readButton(data)).toBeUndefined();
      }),
    );
  });

  it.each(["sb/", "sb1/", "sb/Send", "sb /send", "SB/send", "sb/send\noff", "sbx/send", "sb/send "])(
    "CMD-4: %j is not ours",
    (data) => {
      expect(readButton(data)).toBeUndefined();
    },
  );
});
