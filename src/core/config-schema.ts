import { z } from "zod";

/** A closed object whose unknown keys are answered with the allowed ones. */
function closed<S extends z.ZodRawShape>(shape: S) {
  const allowed = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown key ${issue.keys.map((key: string) => `"${key}"`).join(", ")}; allowed: ${allowed}`
        : undefined,
  });
}

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an agent id is 1–64 of a–z 0–9 _ -, lower case");
const chatType = z.enum(["direct", "group", "channel"]);
const dmScope = z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]);
const personIds = z.array(z.union([z.string().trim().min(1), z.number().int()]));

/** Words that other keys begin with. */
const RESERVED_KEYS = /^(global|unknown|current|direct|dm|cron|hook|acp|subagent|node(-.*)?)$/;

const sendRule = closed({
  action: z.enum(["allow", "deny"]),
  match: closed({
    channel: oneOrMany(z.string().min(1)).optional(),
    chatType: oneOrMany(chatType).optional(),
    keyPrefix: oneOrMany(z.string().min(1)).optional(),
  }).optional(),
});

const reset = closed({
  mode: z.enum(["daily", "idle", "none"]).default("daily"),
  /** Hour of the host's local time, 0–23. */
  atHour: z.number().int().min(0).max(23).default(4),
  /** With mode "daily" whichever comes first. Absent = no idle reset; mode "idle" alone means 60. */
  idleMinutes: z.number().int().min(1).optional(),
});

const session = closed({
  scope: z.enum(["per-sender", "global"]).default("per-sender"),
  mainKey: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a main key is 1–64 of a–z 0–9 _ -, lower case")
    .refine((key) => !RESERVED_KEYS.test(key), "this word already means something in session keys")
    .default("main"),
  dmScope: dmScope.default("main"),
  identityLinks: z.record(z.string().trim().min(1), z.array(z.string().trim().min(1))).default({}),
  reset: reset.prefault({}),
  agentToAgent: closed({ maxPingPongTurns: z.number().int().min(0).max(20).default(5) }).prefault({}),
  sendPolicy: closed({
    rules: z.array(sendRule).default([]),
    default: z.enum(["allow", "deny"]).default("allow"),
  }).prefault({}),
});

const grant = closed({
  from: z.string().min(1),
  to: z.string().min(1),
  read: z.boolean(),
  send: z.boolean(),
});

const toolLists = {
  profile: z.enum(["coding", "messaging", "minimal", "full"]).default("coding"),
  alsoAllow: z.array(z.string().min(1)).default([]),
  allow: z.array(z.string().min(1)).optional(),
  deny: z.array(z.string().min(1)).default([]),
};

const tools = closed({
  ...toolLists,
  sessions: closed({ visibility: z.enum(["self", "tree", "agent", "all"]).default("tree") }).prefault({}),
  agentToAgent: closed({
    enabled: z.boolean().default(false),
    /** A pattern means both rights and needs visibility "all"; a grant gives exactly what it says, at any level. */
    allow: z.array(z.union([z.string().min(1), grant])).default([]),
  }).prefault({}),
});

const agents = closed({
  defaults: closed({
    /** Runs of agents at the same time, 1–64. A run that waits for another does not count. */
    maxConcurrent: z.number().int().min(1).max(64).default(4),
    /** Longest run; 0 = no limit. */
    timeoutSeconds: z.number().int().min(0).max(86_400).default(600),
    /** What a run is given of its transcript. */
    history: closed({
      maxEntries: z.number().int().min(0).max(1000).default(200),
      maxBytes: z.number().int().min(1024).max(4_194_304).default(262_144),
    }).prefault({}),
    /** Whether a run that a restart interrupted is told (default) or tried again. */
    resume: z.enum(["tell", "retry"]).default("tell"),
    sandbox: closed({ sessionToolsVisibility: z.enum(["spawned", "all"]).default("spawned") }).prefault({}),
  }).prefault({}),
  list: z
    .array(
      closed({
        id: agentId,
        default: z.boolean().optional(),
        model: z.string().min(1).optional(),
        sandbox: closed({ mode: z.enum(["off", "non-main", "all"]).default("off") }).prefault({}),
        tools: closed({ allow: toolLists.allow, deny: toolLists.deny }).prefault({}),
      }),
    )
    .default([]),
});

const binding = closed({
  agentId,
  match: closed({
    channel: z.string().min(1),
    /** "*" = any account; absent = any as well. */
    accountId: z.string().min(1).optional(),
    peer: closed({
      kind: chatType,
      id: z
        .string()
        .min(1)
        .refine((id) => id !== "*", "name one chat; leave peer out to mean all"),
    }).optional(),
    guildId: z.string().min(1).optional(),
    roles: z.array(z.string().min(1)).min(1).optional(),
  }),
  session: closed({ dmScope: dmScope.optional() }).optional(),
});

/** What holds for a platform. */
export const channel = closed({
  /** Who may write to the bot directly. Owners and identity-linked people always may, unless "disabled". */
  dmPolicy: z.enum(["allowlist", "open", "disabled"]).default("allowlist"),
  allowFrom: personIds.default([]),
  /** In which groups the bot answers; the list holds chat ids, threads follow their parent. */
  groupPolicy: z.enum(["open", "allowlist", "disabled"]).default("open"),
  groupAllowFrom: personIds.default([]),
  /** In groups, answer only when mentioned or replied to. */
  requireMention: z.boolean().default(true),
  /** "allow": messages of other bots count as messages of people. */
  bots: z.enum(["ignore", "allow"]).default("ignore"),
});

/** The whole config: every key, its range and its default. */
export const configSchema = closed({
  session: session.prefault({}),
  tools: tools.prefault({}),
  agents: agents.prefault({}),
  bindings: z.array(binding).default([]),
  channels: z.record(z.string().min(1), channel).default({}),
  commands: closed({
    /** Parse `/send off` typed as text on Discord, which has real commands; the other platforms' commands are text. */
    text: z.boolean().default(true),
    /** Register native menus on Discord and Telegram. */
    native: z.boolean().default(true),
  }).prefault({}),
  redaction: closed({
    /** Exact values that are masked wherever text leaves, beside the tokens found on the live clients. */
    values: z.array(z.string().min(8)).default([]),
  }).prefault({}),
  transcripts: closed({ mirror: z.boolean().default(true) }).prefault({}),
  storage: closed({
    /** fsync on every write: survives a power cut, not only a killed process. */
    syncEveryWrite: z.boolean().default(false),
  }).prefault({}),
  locale: z.enum(["en", "es", "pt-BR", "hi"]).default("en"),
});
