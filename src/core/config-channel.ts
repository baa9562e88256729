import { z } from "zod";
import { closed, personIds, toolRules } from "./config-parts.ts";

const mentionNames = z
  .array(
    z
      .string()
      .trim()
      .max(64)
      .regex(/[\p{L}\p{N}\p{S}]/u, "a name has at least one letter, digit or symbol"),
  )
  .max(32)
  .default([]);

const group = closed({
  tools: closed(toolRules)
    .prefault({})
    .describe("Session tools of this group and of what was spawned from it."),
  requireMention: z
    .boolean()
    .optional()
    .describe(
      "Instead of the channel's own requireMention; where several entries fit, the most exact one holds.",
    ),
});

const botLoop = closed({
  maxMessages: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(20)
    .describe("More messages than this within the window, both ways together, begin the pause."),
  windowSeconds: z.number().int().min(1).max(3600).default(60).describe("Length of the window in seconds."),
  pauseSeconds: z
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(60)
    .describe("How many seconds the other bot is ignored in that room."),
});

/** What holds for a platform. */
export const channel = closed({
  dmPolicy: z
    .enum(["allowlist", "pairing", "open", "disabled"])
    .default("allowlist")
    .describe(
      "Who may write to the bot directly. Owners and people in session.identityLinks always may, unless disabled. pairing: a stranger is told a code with which an owner can approve them (/pair). open: everybody, as where the host decides.",
    ),
  allowFrom: personIds
    .default([])
    .describe("Ids of people who may write directly, with or without the channel's name in front."),
  groupPolicy: z
    .enum(["open", "allowlist", "disabled"])
    .default("open")
    .describe("In which groups the bot answers."),
  groupAllowFrom: personIds
    .default([])
    .describe("With groupPolicy allowlist: ids of the groups, not of people. Threads follow their group."),
  groups: z
    .record(z.string().trim().min(1), group)
    .default({})
    .describe(
      'Rules by chat id, "*" = every group of this channel; where both fit, both hold. Threads, topics and subagents follow their group. requireMention also takes a topic (<chat>:topic:<id>) or a thread (<chat>:thread:<id>, on Discord its own id).',
    ),
  requireMention: z
    .boolean()
    .default(true)
    .describe(
      "In groups, answer only when mentioned, named or replied to. false: every message is for the bot, as where the host chooses what to hand over.",
    ),
  mentionNames: mentionNames.describe(
    "What people call the bot: words or phrases that count as a mention wherever they stand as words of their own, in whichever case.",
  ),
  groupContext: z
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(50)
    .describe(
      "In groups, how many of the messages since its last turn that were not meant for the bot it is given with the next one; 0 = they are not recorded. Where no session is awake they wait for a day.",
    ),
  debounceMs: z
    .number()
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .describe(
      "Messages of one person that follow each other within so many milliseconds become one turn; 0 = each has its own. Nobody waits longer than five times this, nor when something else waits behind it in the session.",
    ),
  bots: z
    .enum(["ignore", "allow"])
    .default("ignore")
    .describe("allow: messages of other bots count as messages of people."),
  botLoop: botLoop
    .prefault({})
    .describe(
      "Where bots count: how much the bot and one of them may say to each other in one room before it is ignored there for a while.",
    ),
});
