import { z } from "zod";
import { chatType, closed, dmScope } from "./config-parts.ts";

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
/** Words that other keys begin with. */
const RESERVED_KEYS = /^(global|unknown|current|direct|dm|cron|hook|acp|subagent|node(-.*)?)$/;

const sendRule = closed({
  action: z
    .enum(["allow", "deny"])
    .describe("What holds where the rule matches; a denial beats a permission."),
  match: closed({
    channel: oneOrMany(z.string().min(1)).optional().describe("Name of the channel, or several."),
    chatType: oneOrMany(chatType)
      .optional()
      .describe(
        "Kind of chat, or several. On Discord a server's channels are channel, and group means group DMs.",
      ),
    keyPrefix: oneOrMany(z.string().min(1))
      .optional()
      .describe("How the session key begins, with or without agent:<id>: in front; or several."),
  })
    .optional()
    .describe("All that is named has to fit; without it the rule always matches."),
});

const reset = closed({
  mode: z
    .enum(["daily", "idle", "none"])
    .default("daily")
    .describe("When a message begins a new conversation: on a new day, after a silence, or never by itself."),
  atHour: z
    .number()
    .int()
    .min(0)
    .max(23)
    .default(4)
    .describe("With mode daily: the hour of the host's local time at which the day turns."),
  idleMinutes: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      "Minutes of silence after which a conversation is over, with mode daily whichever comes first. Absent: with mode daily none, with mode idle 60.",
    ),
});

const threadBindings = closed({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether children may have threads of their own (sessions_spawn with thread: true)."),
  idleHours: z
    .number()
    .min(0)
    .max(8760)
    .default(24)
    .describe("A thread is given back when nobody has spoken in it for so many hours; 0 = never."),
  maxAgeHours: z
    .number()
    .min(0)
    .max(8760)
    .default(0)
    .describe("A thread is given back when it is so many hours old; 0 = never."),
  defaultSpawnContext: z
    .enum(["isolated", "fork"])
    .default("fork")
    .describe(
      "What a child with a thread knows when the spawn does not say: its task alone, or a copy of the requester's transcript.",
    ),
});

const mainKey = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a main key is 1–64 of a–z 0–9 _ -, lower case")
  .refine((key) => !RESERVED_KEYS.test(key), "this word already means something in session keys")
  .default("main");

/** How messages become sessions. */
export const session = closed({
  scope: z
    .enum(["per-sender", "global"])
    .default("per-sender")
    .describe("global: everybody shares one session, rooms too."),
  mainKey: mainKey.describe("The last part of the key of an agent's main session."),
  dmScope: dmScope
    .default("main")
    .describe(
      "Which direct chats share a session: all of an agent (main), those of one person, of one person on one channel, or on one account of it.",
    ),
  identityLinks: z
    .record(z.string().trim().min(1), z.array(z.string().trim().min(1)))
    .default({})
    .describe(
      "Name of a person → their ids, as <channel>:<id> or for every channel: they are one person with one session.",
    ),
  reset: reset.prefault({}).describe("When conversations begin anew by themselves."),
  threadBindings: threadBindings.prefault({}).describe("Threads that belong to one child."),
  agentToAgent: closed({
    maxPingPongTurns: z
      .number()
      .int()
      .min(0)
      .max(20)
      .default(5)
      .describe("How many times two agents may answer each other after a sessions_send; 0 = not at all."),
  })
    .prefault({})
    .describe("What follows a sessions_send."),
  sendPolicy: closed({
    rules: z
      .array(sendRule)
      .default([])
      .describe("Of the rules that match a denial wins, then a permission."),
    default: z.enum(["allow", "deny"]).default("allow").describe("What holds where no rule matches."),
  })
    .prefault({})
    .describe("Whether anything may leave for a chat. An owner's /send comes before it."),
});
