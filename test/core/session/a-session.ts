import { type Config, type ConfigInput, parseConfig } from "../../../src/core/config.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import type { Session, SessionKey } from "../../../src/core/ports/session.ts";
import { agentIdOf, canonicalKey, type KeyNames, keyNames } from "../../../src/core/session/key.ts";

export const agentIds = ["main", "ops", "cipher"];

export function configOf(input: ConfigInput = {}): Config {
  return parseConfig(input, agentIds);
}

export const names: KeyNames = keyNames(configOf(), "main");

/** A key that the test wrote by hand; a typing error fails the test. */
export function key(text: string): SessionKey {
  const canonical = canonicalKey(text, "main", names);
  if (canonical === undefined) throw new Error(`not a key: ${text}`);
  return canonical;
}

export function aSession(text: string, over: Partial<Session> = {}): Session {
  return {
    key: key(text),
    agentId: agentIdOf(key(text), names),
    sessionId: "11111111-2222-4333-8444-555555555555",
    createdAtMs: 0,
    updatedAtMs: 0,
    sessionStartedAtMs: 0,
    ...over,
  };
}

export function at(channel: string, over: Partial<Address> = {}): Address {
  return { channel, accountId: "default", chatType: "direct", chatId: "dm", ...over };
}
