import fc from "fast-check";
import { expect, it } from "vitest";
import { boundedMessage } from "../../../src/core/inbound/bounded.ts";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import { at } from "../../fakes/memory-adapter.ts";

const MESSAGE: InboundMessage = {
  id: "1",
  from: at("telegram", "direct", "7"),
  sender: { id: "7", name: "Ann", isBot: false, roleIds: ["3"] },
  text: "hello",
  addressed: true,
  sentAtMs: 5,
  replyToId: "0",
  quoted: { text: "what?", senderName: "Bob", forwarded: false },
  attachments: [{ mediaType: "image/png", sizeBytes: 3, name: "a.png" }],
  chatTitle: "Friends",
  locale: "en",
};

it("IN-1: a message of today's platforms comes back as it is", () => {
  expect(boundedMessage(MESSAGE, fakeLogger())).toStrictEqual(MESSAGE);
});

it("IN-1: nothing malformed beside the text costs a message, or makes it more than it was", () => {
  const anything = fc.oneof(fc.anything(), fc.constant({ type: "story" }));
  fc.assert(
    fc.property(
      fc.record({ quoted: anything, attachments: anything, chatTitle: anything, replay: anything }),
      fc.record({ name: anything, altIds: anything, roleIds: anything }),
      anything,
      (extras, ofSender, senderName) => {
        const quoted = { text: "x", senderName, forwarded: 1 };
        for (const more of [extras, { ...extras, quoted }]) {
          // What TypeScript would not let an adapter say.
          const message = {
            ...MESSAGE,
            ...more,
            sender: { ...MESSAGE.sender, ...ofSender },
          } as InboundMessage;
          const bounded = boundedMessage(message, fakeLogger());
          expect(bounded.text).toBe("hello");
          expect(["string", "undefined"]).toContain(typeof bounded.quoted?.senderName);
          expect(["string", "undefined"]).toContain(typeof bounded.sender.name);
          if (extras.replay !== undefined && extras.replay !== false) expect(bounded.replay).toBe(true);
        }
        const forwarded = { ...MESSAGE, quoted } as unknown as InboundMessage;
        expect(boundedMessage(forwarded, fakeLogger()).quoted?.forwarded).toBe(true);
      },
    ),
  );
});
