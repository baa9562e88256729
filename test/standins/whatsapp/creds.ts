import { randomBytes } from "node:crypto";
import {
  type AuthenticationCreds,
  type AuthenticationState,
  initAuthCreds,
  type SignalDataTypeMap,
  type SignalKeyStore,
  useMultiFileAuthState,
} from "@whiskeysockets/baileys";

export interface LinkedDevice {
  readonly phone: string;
  readonly lid: string;
  readonly device: number;
}

/** Credentials of a device that was linked long ago: Baileys logs in with them and skips pairing and history. */
function fabricateCreds({ phone, lid, device }: LinkedDevice): AuthenticationCreds {
  return {
    ...initAuthCreds(),
    me: { id: `${phone}:${device}@s.whatsapp.net`, lid: `${lid}:${device}@lid`, name: "Bot" },
    registered: true,
    platform: "android",
    // Above zero: Baileys does not wait 20 s for a history sync.
    accountSyncCounter: 1,
    // Set: Baileys 6 does not wait for the phone's app state, which would hold back every message.
    myAppStateKeyId: "AAAAAA==",
    account: {
      details: randomBytes(16),
      accountSignatureKey: randomBytes(32),
      accountSignature: randomBytes(64),
      deviceSignature: randomBytes(64),
    },
  };
}

export interface DeviceAuth extends AuthenticationState {
  readonly saveCreds?: () => Promise<void>;
}

/** Credentials and Signal keys that live as long as this object: hand it to each reconnect. */
export function memoryAuth(device: LinkedDevice): DeviceAuth {
  return { creds: fabricateCreds(device), keys: memoryKeys() };
}

/**
 * Credentials and Signal keys in a folder, made on first use. Any process may go on with them through Baileys'
 * own `useMultiFileAuthState(folder)`, also after a `kill -9` of the one before.
 */
export async function folderAuth(device: LinkedDevice, folder: string): Promise<DeviceAuth> {
  const { state, saveCreds } = await useMultiFileAuthState(folder);
  if (!state.creds.registered) {
    Object.assign(state.creds, fabricateCreds(device));
    await saveCreds();
  }
  return { ...state, saveCreds };
}

export function memoryKeys(): SignalKeyStore {
  const values = new Map<string, unknown>();
  return {
    get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) => {
      const found: Record<string, SignalDataTypeMap[T]> = {};
      for (const id of ids) {
        // The map holds under "type|id" what `set` was given for that type.
        const value = values.get(`${type}|${id}`) as SignalDataTypeMap[T] | undefined;
        if (value !== undefined) found[id] = value;
      }
      return found;
    },
    set: async (data) => {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries)) {
          if (value === null) values.delete(`${type}|${id}`);
          else values.set(`${type}|${id}`, value);
        }
      }
    },
  };
}
