import { z } from "zod";
import { channel } from "./config-channel.ts";
import { closed, toolNames, toolRules } from "./config-parts.ts";

/** How hard a model may think; what a level means is the runner's business. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an agent id is 1–64 of a–z 0–9 _ -, lower case");
const chatType = z.enum(["direct", "group", "channel"]);
const dmScope = z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]);
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
  threadBindings: closed({
    /** Whether children may have threads of their own (sessions_spawn with thread: true). */
    enabled: z.boolean().default(true),
    /** A thread is given back when nobody has spoken in it for so long, or when it is so old; 0 = never. */
    idleHours: z.number().min(0).max(8760).default(24),
    maxAgeHours: z.number().min(0).max(8760).default(0),
    /** What a child with a thread knows when the spawn does not say: a copy of the requester's transcript, or its task alone. */
    defaultSpawnContext: z.enum(["isolated", "fork"]).default("fork"),
  }).prefault({}),
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

const alsoAllow = toolNames.default([]);

/** A tool has to survive every list that holds for its session; `/tools` shows which one took it away. */
const tools = closed({
  /** messaging: list, history, send, status. minimal: status. coding and full: every session tool. */
  profile: z.enum(["coding", "messaging", "minimal", "full"]).default("coding"),
  /** Adds to the profile. */
  alsoAllow,
  ...toolRules,
  /** For runs with a model whose provider (what stands before the first `/`) or whole id fits; every entry that fits holds. */
  byProvider: z.record(z.string().trim().min(1), closed(toolRules)).default({}),
  /** For sandboxed sessions. */
  sandbox: closed({ tools: closed(toolRules).prefault({}) }).prefault({}),
  /** Session tools of children: `allow` or `alsoAllow` gives back what their depth takes away, `deny` takes more. */
  subagents: closed({ tools: closed({ ...toolRules, alsoAllow }).prefault({}) }).prefault({}),
  sessions: closed({ visibility: z.enum(["self", "tree", "agent", "all"]).default("tree") }).prefault({}),
  agentToAgent: closed({
    enabled: z.boolean().default(false),
    /** A pattern means both rights and needs visibility "all"; a grant gives exactly what it says, at any level. */
    allow: z.array(z.union([z.string().min(1), grant])).default([]),
    /** Messages that one session may send to others within an hour; the turns of an exchange are not counted. */
    maxSendsPerHour: z.number().int().min(1).max(1_000_000).default(120),
  }).prefault({}),
});

const allowAgents = z.array(z.string().trim().min(1)).optional();
const thinking = z.enum(THINKING_LEVELS).optional();

/** What holds for children. */
const subagents = closed({
  /** Children at work at the same time, of all requesters; the others wait. */
  maxConcurrent: z.number().int().min(1).max(64).default(8),
  /** 1 = children may not spawn. */
  maxSpawnDepth: z.number().int().min(1).max(5).default(1),
  /** Open tasks of one requester. */
  maxChildrenPerAgent: z.number().int().min(1).max(20).default(5),
  /** Open tasks of all requesters. */
  maxOpen: z.number().int().min(1).max(1000).default(100),
  /** Spawns of one requester within an hour. */
  maxSpawnsPerHour: z.number().int().min(1).max(1_000_000).default(60),
  /** When a child that has ended leaves the lists; 0 = never. */
  archiveAfterMinutes: z.number().int().min(0).max(525_600).default(60),
  /** Longest task where the spawn does not say; 0 = no limit. */
  runTimeoutSeconds: z.number().int().min(0).max(86_400).default(0),
  model: z.string().min(1).optional(),
  thinking,
  /** For agents without a list of their own: which agents they may spawn beside themselves; "*" = any. */
  allowAgents,
  announce: z.enum(["auto", "channel", "requester", "none"]).default("auto"),
});

const agents = closed({
  defaults: closed({
    /** false: an unknown model in a tool call is a warning, and the run goes on with the usual one. */
    strictModel: z.boolean().default(true),
    subagents: subagents.prefault({}),
    /** Runs of agents at the same time, 1–64. A run that waits for another does not count. */
    maxConcurrent: z.number().int().min(1).max(64).default(4),
    /** Longest run; 0 = no limit. */
    timeoutSeconds: z.number().int().min(0).max(86_400).default(600),
    /** What a run is given of its transcript. */
    history: closed({
      maxEntries: z.number().int().min(0).max(1000).default(200),
      maxBytes: z.number().int().min(1024).max(4_194_304).default(262_144),
    }).prefault({}),
    /**
     * Messages that come while the agent is at work. followup: each gets its turn. collect: up to 20 of a chat that wait become one turn. interrupt: the
     * same, and a message ends the turn that an earlier one of its chat began: an owner's only for an owner, and no more than five in a row.
     */
    queue: z.enum(["followup", "collect", "interrupt"]).default("followup"),
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
        tools: closed(toolRules).prefault({}),
        subagents: closed({ allowAgents, model: z.string().min(1).optional(), thinking }).prefault({}),
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
  announce: closed({
    /** How much of a child's runtime, tokens and cost people see. Absent: all in an owner's direct chat, else runtime and tokens. */
    stats: z.enum(["full", "short", "off"]).optional(),
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
