import { makeWASocket, type UserFacingSocketConfig, type WASocket } from "@whiskeysockets/baileys";
import { makeWASocket as makeWASocket6 } from "baileys6";
import { derivePromptly } from "./prompt-hkdf.ts";

derivePromptly();

/** A release of Baileys that the adapter is held to. The stand-in itself speaks through one of them. */
export interface Library {
  readonly version: string;
  readonly makeSocket: typeof makeWASocket;
  /** Knows which phone number and which LID are one person, and tells both with each message as `…Alt`. */
  readonly mapsLids: boolean;
  readonly config: Partial<UserFacingSocketConfig>;
}

export const BAILEYS_7: Library = {
  version: "7.0.0-rc14",
  makeSocket: makeWASocket,
  mapsLids: true,
  config: {},
};

const BAILEYS_6: Library = {
  version: "6.7.24",
  // The members that tests and the adapter use are the same; what 7 has besides is asked for only where `mapsLids`.
  makeSocket: makeWASocket6 as unknown as (...args: Parameters<typeof makeWASocket>) => WASocket,
  mapsLids: false,
  // Before it asks a sender to repeat a message, it asks the phone and waits five seconds, unless it has asked already.
  config: {
    placeholderResendCache: {
      get: <T>() => true as T,
      set: () => true,
      del: () => 1,
      flushAll: () => undefined,
    },
  },
};

export const LIBRARIES: readonly Library[] = [BAILEYS_7, BAILEYS_6];
