import { type Api, HttpError, type Transformer } from "grammy";
import { describe, expect, it } from "vitest";
import { deliveryFailureOf } from "../../../src/core/errors.ts";
import { rateLimited, serverError } from "../../standins/telegram/failures.ts";
import { aBot, CHANNEL, FORUM, GROUP, placeOf, sendTo, type TestBot } from "./bot.ts";

/** As @grammyjs/auto-retry does it: network errors, limits and server errors again and again, here without pauses. */
function autoRetry(attempts: string[]): Transformer {
  return async (call, method, payload, signal) => {
    for (;;) {
      attempts.push(method);
      const answer = await call(method, payload, signal).catch((error: unknown) => {
        if (error instanceof HttpError) return undefined;
        throw error;
      });
      const isTriedAgain = answer?.ok === false && (answer.error_code === 429 || answer.error_code >= 500);
      if (answer && !isTriedAgain) return answer;
    }
  };
}

/** As @grammyjs/transformer-throttler does it: one call after the other. */
function throttler(): Transformer {
  let before: Promise<unknown> = Promise.resolve();
  return (call, method, payload, signal) => {
    const next = before.then(() => call(method, payload, signal));
    before = next.catch(() => undefined);
    return next;
  };
}

const failureOf = (sending: Promise<unknown>) => sending.then(() => undefined, deliveryFailureOf);

async function aBotWithPlugins(when: "before" | "after") {
  const attempts: string[] = [];
  const install = (api: Api) => api.config.use(throttler(), autoRetry(attempts));
  const made: TestBot = await aBot({}, when === "before" ? install : undefined);
  if (when === "after") install(made.bot.api);
  return { ...made, attempts };
}

describe.each(["before", "after"] as const)(
  "beside plugins that were installed %s the adapter was made",
  (when) => {
    it("M03: a text whose answer was lost is not sent a second time", async () => {
      const made = await aBotWithPlugins(when);
      made.telegram.failNext("sendMessage", { kind: "dropAfter" });
      const failure = await failureOf(sendTo(made, placeOf(GROUP), "once"));
      expect(failure).toMatchObject({ retryable: true, uncertain: true, partsSent: 0 });
      expect(made.telegram.sent.map(({ text }) => text)).toEqual(["once"]);
      expect(made.attempts).toEqual(["sendMessage"]);
    });

    it("M01: a limit comes back with the platform's time, and is not waited out twice", async () => {
      const made = await aBotWithPlugins(when);
      made.telegram.failNext("sendMessage", rateLimited(6775));
      const failure = await failureOf(sendTo(made, placeOf(GROUP), "later"));
      expect(failure).toMatchObject({ retryable: true, retryAfterMs: 6_775_000 });
      expect(made.telegram.sent).toEqual([]);
    });

    it("M02: a server error comes back after one attempt", async () => {
      const made = await aBotWithPlugins(when);
      made.telegram.failNext("sendMessage", serverError);
      expect(await failureOf(sendTo(made, placeOf(GROUP), "x"))).toMatchObject({ retryable: true });
      expect(made.attempts).toEqual(["sendMessage"]);
    });

    it("TG-2: what works and what is refused for good goes through them as ever", async () => {
      const made = await aBotWithPlugins(when);
      await Promise.all(["a", "b"].map((text) => sendTo(made, placeOf(CHANNEL), text)));
      expect(made.telegram.sent.map(({ text }) => text)).toEqual(["a", "b"]);
      made.telegram.room(GROUP).refusal = "bot was kicked from the group chat";
      expect(await failureOf(sendTo(made, placeOf(GROUP), "x"))).toMatchObject({ retryable: false });
      expect(made.attempts).toEqual(["sendMessage", "sendMessage", "sendMessage"]);
    });

    it("SPAWN: a topic whose answer was lost is not opened a second time", async () => {
      const made = await aBotWithPlugins(when);
      made.telegram.failNext("createForumTopic", { kind: "dropAfter" });
      await failureOf(made.adapter.createThread?.(placeOf(FORUM), "Task") ?? Promise.resolve());
      expect(made.attempts).toEqual(["createForumTopic"]);
      expect(made.telegram.room(FORUM).topics.size).toBe(1);
    });

    it("TG-1: the host's own calls are repeated as the host wants it", async () => {
      const made = await aBotWithPlugins(when);
      made.telegram.failNext("sendMessage", serverError);
      await made.bot.api.sendMessage(GROUP.id, "the host's");
      expect(made.telegram.sent).toHaveLength(1);
    });
  },
);
