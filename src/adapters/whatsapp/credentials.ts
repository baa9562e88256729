import { given } from "../../core/given.ts";

interface KeyPair {
  readonly private: Uint8Array;
}

/** What of the credentials of a logged-in account nobody may read; Baileys 6 and 7 call it the same. */
export interface WhatsAppCredentials {
  readonly noiseKey?: KeyPair;
  readonly signedIdentityKey?: KeyPair;
  readonly signedPreKey?: { readonly keyPair: KeyPair };
  readonly pairingEphemeralKeyPair?: KeyPair;
  readonly advSecretKey?: string;
  readonly pairingCode?: string | undefined;
}

/** Every secret in the forms in which it is written down: base64 as in a file, hexadecimal as Node.js prints it. */
export function secretsOf(credentials: WhatsAppCredentials | undefined): readonly string[] {
  const { noiseKey, signedIdentityKey, signedPreKey, pairingEphemeralKeyPair } = credentials ?? {};
  const pairs = [noiseKey, signedIdentityKey, signedPreKey?.keyPair, pairingEphemeralKeyPair];
  const keys = pairs.flatMap((pair) => (pair === undefined ? [] : [Buffer.from(pair.private)]));
  const { advSecretKey, pairingCode } = credentials ?? {};
  return [
    ...keys.flatMap((key) => [key.toString("base64"), key.toString("hex")]),
    ...Object.values(given({ advSecretKey, pairingCode })),
  ];
}
