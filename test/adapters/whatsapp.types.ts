import type { UserFacingSocketConfig, WASocket } from "@whiskeysockets/baileys";
import type { WASocket as WASocket6 } from "baileys6";
import type { WhatsAppAdapter, WhatsAppSocket } from "../../src/adapters/whatsapp/index.ts";

/** Real sockets of Baileys 7 and 6 fit the adapter without a cast, and the adapter fits `makeWASocket`. */
export const realSocketFits = (socket: WASocket): WhatsAppSocket => socket;
export const realSocket6Fits = (socket: WASocket6): WhatsAppSocket => socket;
export const optionFits = ({
  cachedGroupMetadata,
}: WhatsAppAdapter): UserFacingSocketConfig["cachedGroupMetadata"] => cachedGroupMetadata;
