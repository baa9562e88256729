import { hkdfSync, type webcrypto } from "node:crypto";

interface Hkdf {
  readonly name: "HKDF";
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

/**
 * Makes HKDF of WebCrypto answer at once. Baileys 6 derives its last keys while it already listens: an answer of the server that is
 * faster than a thread of this process ends the connection ("Unsupported state or unable to authenticate data"). On a real network
 * that takes bad luck, beside a server in the same process only load.
 */
export function derivePromptly(): void {
  const { subtle } = globalThis.crypto;
  const importKey: (...args: never[]) => unknown = subtle.importKey.bind(subtle);
  const deriveBits: (...args: never[]) => unknown = subtle.deriveBits.bind(subtle);
  const secrets = new WeakMap<object, Uint8Array>();
  Object.assign(subtle, {
    importKey: async (...args: unknown[]) => {
      const [, secret, algorithm] = args;
      // Whatever is asked otherwise goes on as it came.
      if (!isHkdf(algorithm) || !(secret instanceof Uint8Array)) return importKey(...(args as never[]));
      const key = {};
      secrets.set(key, secret);
      return key;
    },
    deriveBits: async (algorithm: unknown, key: webcrypto.CryptoKey, bits: number) => {
      const secret = secrets.get(key);
      if (!secret || !isHkdf(algorithm)) return deriveBits(...([algorithm, key, bits] as never[]));
      return hkdfSync("sha256", secret, algorithm.salt, algorithm.info, bits / 8);
    },
  });
}

function isHkdf(algorithm: unknown): algorithm is Hkdf {
  return typeof algorithm === "object" && algorithm !== null && Reflect.get(algorithm, "name") === "HKDF";
}
