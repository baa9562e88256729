import { z } from "zod";
import { closed, personIds, toolRules } from "./config-parts.ts";

/** What holds for a platform. */
export const channel = closed({
  /**
   * Who may write to the bot directly. Owners and identity-linked people always may, unless "disabled". pairing: a stranger is told a code with which an
   * owner can approve them (`/pair`). open: everybody may, as where the host decides.
   */
  dmPolicy: z.enum(["allowlist", "pairing", "open", "disabled"]).default("allowlist"),
  allowFrom: personIds.default([]),
  /** In which groups the bot answers; the list holds chat ids, threads follow their parent. */
  groupPolicy: z.enum(["open", "allowlist", "disabled"]).default("open"),
  groupAllowFrom: personIds.default([]),
  /**
   * By chat id, "*" = every group of this platform. Threads and topics follow their room, subagents the room in which they were asked for; where both an
   * id and "*" fit, both hold. `requireMention` also takes a topic (`<chat>:topic:<id>`) or a thread (`<chat>:thread:<id>`, on Discord its own id), and the
   * most exact one holds.
   */
  groups: z
    .record(
      z.string().trim().min(1),
      closed({ tools: closed(toolRules).prefault({}), requireMention: z.boolean().optional() }),
    )
    .default({}),
  /** In groups, answer only when mentioned, named or replied to. false: every message is for the bot, as where the host chooses what to hand over. */
  requireMention: z.boolean().default(true),
  /** What people call the bot: words or phrases that count as a mention wherever they stand as words of their own, in whichever case. */
  mentionNames: z
    .array(
      z
        .string()
        .trim()
        .max(64)
        .regex(/[\p{L}\p{N}\p{S}]/u, "a name has at least one letter, digit or symbol"),
    )
    .max(32)
    .default([]),
  /** In groups, how many of the messages since its last turn that were not meant for the bot it is given with the next one; 0 = they are not recorded. Where no session is awake they wait for a day. */
  groupContext: z.number().int().min(0).max(1000).default(50),
  /** Messages of one person that follow each other within this become one turn; 0 = each has its own. Nobody waits longer than five times this, nor when something else waits behind it in the session. */
  debounceMs: z.number().int().min(0).max(60_000).default(0),
  /** "allow": messages of other bots count as messages of people. */
  bots: z.enum(["ignore", "allow"]).default("ignore"),
  /** Where they count: more messages than this between the bot and one of them in one room, both ways, and it is ignored there for a while. */
  botLoop: closed({
    maxMessages: z.number().int().min(1).max(1000).default(20),
    windowSeconds: z.number().int().min(1).max(3600).default(60),
    pauseSeconds: z.number().int().min(1).max(86_400).default(60),
  }).prefault({}),
});
