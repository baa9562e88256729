import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/core/config.ts";
import type { Address, ChatType } from "../../src/core/ports/chat.ts";
import { canonicalKey, formatKey, keyNames, parseKey } from "../../src/core/session/key.ts";
import { personIds } from "../../src/core/session/person.ts";
import { resolveChat } from "../../src/core/session/resolve.ts";
import { cases, nastyText, nearly, PATIENCE_MS } from "./arbitraries.ts";

const WORDS = [
  "agent",
  "main",
  "ops",
  "global",
  "unknown",
  "current",
  "direct",
  "dm",
  "group",
  "channel",
  "thread",
  "topic",
  "slash",
  "cron",
  "run",
  "hook",
  "node",
  "node-1",
  "acp",
  "subagent",
  "telegram",
  "discord",
  "1",
  "-100",
];

/** Parts of keys and nearly such, put together in any order. */
const keyText = fc.oneof(
  nastyText,
  fc
    .array(fc.oneof(nearly(...WORDS), nastyText), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(":")),
  fc.array(nearly(...WORDS), { maxLength: 6 }).map((parts) => ["agent", "main", ...parts].join(":")),
);

const agentIds = ["main", "ops", "channel", "group"];
const id = fc.oneof(nastyText, nearly(...WORDS), keyText).filter((text) => text !== "");
const channelName = fc
  .oneof(fc.constantFrom("discord", "telegram", "whatsapp"), nearly("telegram", "group", "main"), nastyText)
  .filter((text) => text !== "");

interface Spot {
  readonly address: Address;
  readonly sender: { readonly id: string; readonly isBot: boolean };
}

const spot: fc.Arbitrary<Spot> = fc
  .record(
    {
      channel: channelName,
      accountId: fc.oneof(fc.constant("default"), id),
      chatType: fc.constantFrom<ChatType>("direct", "group", "channel"),
      chatId: id,
      threadId: id,
      senderId: id,
    },
    { requiredKeys: ["channel", "accountId", "chatType", "chatId", "senderId"] },
  )
  .map(({ senderId, ...address }) => ({ address, sender: { id: senderId, isBot: false } }));

/** A spot, and one that is nearly the same. */
const spots = fc
  .tuple(
    spot,
    spot,
    fc.subarray(["channel", "accountId", "chatType", "chatId", "threadId"] as const),
    fc.boolean(),
  )
  .map(([one, other, shared, samePerson]) => {
    const address = {
      ...other.address,
      ...Object.fromEntries(
        shared.filter((name) => name in one.address).map((name) => [name, one.address[name]]),
      ),
    };
    // The copied members have the types of the originals.
    return [one, { address: address as Address, sender: samePerson ? one.sender : other.sender }] as const;
  });

const config = parseConfig({ session: { dmScope: "per-account-channel-peer" } }, agentIds);
const names = keyNames(config, "main");
const alone = () => [];
const resolved = ({ address, sender }: Spot) =>
  resolveChat({ address, sender }, config, { agentIds, defaultAgentId: "main", samePerson: alone });

/** What has to be the same for two places to be one. */
function identityOf({ address: { channel, accountId, chatType, chatId, threadId }, sender }: Spot): string {
  const room =
    chatType === "direct" ? [accountId.toLowerCase(), personIds(channel, sender, alone)[0]] : [chatId];
  return JSON.stringify([channel.toLowerCase(), chatType, ...room, threadId ?? null]);
}

describe("fuzz: session keys", () => {
  it(
    "KEY-7: every text is read or refused, and what was read is written and read the same",
    () => {
      fc.assert(
        fc.property(keyText, (text) => {
          const parsed = parseKey(text);
          if (parsed === undefined) return;
          const key = formatKey(parsed);
          expect(parseKey(key)).toEqual(parseKey(formatKey(parseKey(key) ?? parsed)));
          expect(formatKey(parseKey(key) ?? { family: "unknown" })).toBe(key);
        }),
        cases(),
      );
    },
    PATIENCE_MS,
  );

  it(
    "KEY-7: the stored form of a stored form is itself, for whichever agent",
    () => {
      fc.assert(
        fc.property(
          keyText,
          fc.constantFrom(...agentIds),
          fc.constantFrom(...agentIds),
          (text, agentId, other) => {
            const key = canonicalKey(text, agentId, names);
            if (key === undefined) return;
            expect(canonicalKey(key, other, names)).toBe(key);
            expect(canonicalKey(`  ${key}\n`, other, names)).toBe(key);
          },
        ),
        cases(),
      );
    },
    PATIENCE_MS,
  );

  it(
    "KEY-7: two different places never share a session, whatever their ids spell",
    () => {
      fc.assert(
        fc.property(spots, ([one, other]) => {
          expect(resolved(one).key === resolved(other).key).toBe(identityOf(one) === identityOf(other));
        }),
        cases(),
      );
    },
    PATIENCE_MS,
  );

  it(
    "KEY-7: a key says what the place was, so no id makes it one of another kind, agent or account",
    () => {
      fc.assert(
        fc.property(spot, (place) => {
          const { channel, accountId, chatType, chatId, threadId } = place.address;
          const { key, agentId } = resolved(place);
          const parsed = parseKey(key);
          expect(agentId).toBe("main");
          expect(parsed).toMatchObject({ agentId: "main", family: chatType, channel: channel.toLowerCase() });
          if (chatType === "direct") expect(parsed).toMatchObject({ accountId: accountId.toLowerCase() });
          if (chatType !== "direct") expect(parsed).toMatchObject({ chatId });
          const inner = chatType === "group" ? "topicId" : "threadId";
          expect(parsed).toEqual(
            threadId === undefined
              ? expect.not.objectContaining({ [inner]: expect.anything() })
              : expect.objectContaining({ [inner]: threadId }),
          );
        }),
        cases(),
      );
    },
    PATIENCE_MS,
  );
});
