import { createHash } from "node:crypto";
import type { Keyv } from "keyv";
import { LRUCache } from "lru-cache";
import { messageOf, SwitchboardError } from "../errors.ts";

/** What lies under a key. "damaged": something is there that is not what we wrote. */
export type Stored = { readonly value: unknown } | "absent" | "damaged";

/** JSON values on any Keyv. STORE_UNREACHABLE when the store fails; a value that cannot be read is "damaged", the others are still read. */
export interface Values {
  read(keys: readonly string[]): Promise<readonly Stored[]>;
  write(key: string, value: unknown): Promise<void>;
  /** Keys that are not there do not matter. */
  delete(keys: readonly string[]): Promise<void>;
}

/**
 * `keyv` must throw on errors: otherwise a store that is down reads as empty. Values are handed to it as JSON text, because
 * Keyv's own serializer turns some texts (":base64:…") into something else. Keys carry `prefix`, whatever the namespace is.
 */
export function createValues(keyv: Keyv<string>, prefix = "", decoder = createDecoder()): Values {
  const readOne = async (place: string): Promise<Stored> => {
    try {
      return decoder(place, await keyv.get(place));
    } catch (error) {
      if (isDamage(error)) return "damaged";
      throw unreachable(error);
    }
  };
  return {
    async read(keys) {
      const places = keys.map((key) => storageKey(key, prefix));
      // Without a getMany of the store's own, Keyv's reads a failure as "not there".
      if (places.length < 2 || !keyv.store.getMany) return Promise.all(places.map(readOne));
      try {
        return (await keyv.getMany(places)).map((text, index) => decoder(places[index] ?? "", text));
      } catch (error) {
        if (isDamage(error)) return Promise.all(places.map(readOne));
        throw unreachable(error);
      }
    },
    async write(key, value) {
      // 0 = for ever, also when the Keyv has a default time to live.
      const isWritten = await keyv
        .set(storageKey(key, prefix), JSON.stringify(value), 0)
        .catch(throwUnreachable);
      if (!isWritten) throw unreachable(new Error("it refused a write"));
    },
    async delete(keys) {
      await keyv.deleteMany(keys.map((key) => storageKey(key, prefix))).catch(throwUnreachable);
    },
  };
}

/** Where a key lies in the store. Long keys are hashed: some stores allow 255 characters, and a namespace may be in front. */
export function storageKey(key: string, prefix = ""): string {
  if (key.length <= longestKey) return prefix + key;
  const [table] = key.split("/", 1);
  return `${prefix}${table}/#${createHash("sha256").update(key).digest("hex")}`;
}

const longestKey = 160;

/** Texts that stay parsed, counted in UTF-16 units. */
const longestMemory = 4_000_000;

/** `decode` with a memory: the same text under the same key is the same value again, which nobody may change. */
export function createDecoder(): (key: string, text: unknown) => Stored {
  const known = new LRUCache<string, { readonly text: string; readonly stored: Stored }>({
    maxSize: longestMemory,
    sizeCalculation: ({ text }) => text.length + 100,
  });
  return (key, text) => {
    if (typeof text !== "string") return decode(text);
    const last = known.get(key);
    if (last?.text === text) return last.stored;
    const stored = decode(text);
    known.set(key, { text, stored });
    return stored;
  };
}

/** The text that `Values.write` stores, read back. */
export function decode(text: unknown): Stored {
  if (text === undefined) return "absent";
  if (typeof text !== "string") return "damaged";
  try {
    return { value: JSON.parse(text) };
  } catch {
    return "damaged";
  }
}

function isDamage(error: unknown): boolean {
  if (error instanceof SwitchboardError) return error.code === "STORE_CORRUPT";
  return error instanceof SyntaxError;
}

function throwUnreachable(error: unknown): never {
  throw unreachable(error);
}

function unreachable(error: unknown): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    "STORE_UNREACHABLE",
    `The key-value store failed: ${messageOf(error)}. Check that it runs and can be reached; nothing is lost, try again.`,
    { cause: error },
  );
}
