import type { WASocket } from "@whiskeysockets/baileys";
import type { WhatsAppSocket } from "../../src/adapters/whatsapp/index.ts";

/** A real socket of Baileys 7 fits the adapter without a cast. */
export const realSocketFits = (socket: WASocket): WhatsAppSocket => socket;
