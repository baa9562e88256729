import { z } from "zod";
import { agents } from "./config-agents.ts";
import { channel } from "./config-channel.ts";
import { agentId, chatType, closed, dmScope, toolNames, toolRules } from "./config-parts.ts";
import { session } from "./config-session.ts";

const grant = closed({
  from: z.string().min(1).describe("Id of the agent that gets the rights; * stands for any text."),
  to: z.string().min(1).describe("Id of the agent whose sessions they hold for; * stands for any text."),
  read: z.boolean().describe("Whether it may list and read them."),
  send: z.boolean().describe("Whether it may send to them."),
});

const alsoAllow = toolNames.default([]);

/** A tool has to survive every list that holds for its session; `/tools` shows which one took it away. */
const tools = closed({
  profile: z
    .enum(["coding", "messaging", "minimal", "full"])
    .default("coding")
    .describe(
      "Which session tools there are. messaging: list, history, send, status. minimal: status. coding and full: all of them.",
    ),
  alsoAllow: alsoAllow.describe("Tools that are added to the profile."),
  ...toolRules,
  byProvider: z
    .record(z.string().trim().min(1), closed(toolRules))
    .default({})
    .describe(
      "Rules for runs with a model whose provider (what stands before the first /) or whole id is the name; every entry that fits holds.",
    ),
  sandbox: closed({ tools: closed(toolRules).prefault({}).describe("Which session tools they have.") })
    .prefault({})
    .describe("What holds for sandboxed sessions."),
  subagents: closed({
    tools: closed({
      ...toolRules,
      alsoAllow: alsoAllow.describe("Tools that are given back, although the depth takes them away."),
    })
      .prefault({})
      .describe("Which session tools they have; allow gives back what their depth takes away, too."),
  })
    .prefault({})
    .describe("What holds for children."),
  sessions: closed({
    visibility: z
      .enum(["self", "tree", "agent", "all"])
      .default("tree")
      .describe(
        "Which sessions an agent's tools reach: its own, also those that it spawned, all of the agent, or all agents'.",
      ),
  })
    .prefault({})
    .describe("What session tools see."),
  agentToAgent: closed({
    enabled: z.boolean().default(false).describe("Whether sessions of other agents can be reached at all."),
    allow: z
      .array(z.union([z.string().min(1), grant]))
      .default([])
      .describe(
        "Which agents: a pattern gives both rights and needs tools.sessions.visibility all; a grant gives exactly what it says, at any visibility.",
      ),
    maxSendsPerHour: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(120)
      .describe(
        "Messages that one session may send to others within an hour; the turns of an exchange are not counted.",
      ),
  })
    .prefault({})
    .describe("Reading from and sending to sessions of other agents."),
});

const binding = closed({
  agentId: agentId.describe("The agent that answers."),
  match: closed({
    channel: z.string().min(1).describe("Name of the channel."),
    accountId: z.string().min(1).optional().describe('Account of the bot; absent or "*" = any.'),
    peer: closed({
      kind: chatType.describe("Kind of the chat."),
      id: z
        .string()
        .min(1)
        .refine((id) => id !== "*", "name one chat; leave peer out to mean all")
        .describe("Id of the chat, or of the person in a direct one."),
    })
      .optional()
      .describe("One chat, by its kind and id."),
    guildId: z.string().min(1).optional().describe("Id of a Discord server."),
    roles: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("Ids of Discord roles of which the person has at least one."),
  }).describe("Which messages; all that is named has to fit."),
  session: closed({ dmScope: dmScope.optional().describe("Instead of session.dmScope.") })
    .optional()
    .describe("What is different for their sessions."),
});

/** The whole config: every key, its range and its default. */
export const configSchema = closed({
  session: session.prefault({}).describe("How messages become sessions, and what may leave them."),
  tools: tools.prefault({}).describe("Which session tools there are, and what they reach."),
  agents: agents.prefault({}).describe("What holds for all agents, and for single ones."),
  bindings: z
    .array(binding)
    .default([])
    .describe("Which agent answers where; the most exact binding wins. Elsewhere it is the default agent."),
  channels: z
    .record(z.string().min(1), channel)
    .default({})
    .describe("What holds for a channel, by its name."),
  commands: closed({
    text: z
      .boolean()
      .default(true)
      .describe(
        "Parse commands that are typed as text on Discord, which has real ones; the other channels' commands are text.",
      ),
    native: z.boolean().default(true).describe("Register native menus on Discord and Telegram."),
  })
    .prefault({})
    .describe("How owners' commands come in."),
  announce: closed({
    stats: z
      .enum(["full", "short", "off"])
      .optional()
      .describe(
        "How much of a child's runtime, tokens and cost people see. Absent: all in an owner's direct chat, else runtime and tokens.",
      ),
  })
    .prefault({})
    .describe("What chats are told when a child has ended."),
  redaction: closed({
    values: z
      .array(z.string().min(8))
      .default([])
      .describe(
        "Exact values that are masked wherever text leaves, beside the tokens found on the live clients.",
      ),
  })
    .prefault({})
    .describe("Secrets that never leave."),
  transcripts: closed({
    mirror: z.boolean().default(true).describe("Write every transcript as a JSONL file as well."),
  })
    .prefault({})
    .describe("What is kept of conversations."),
  storage: closed({
    syncEveryWrite: z
      .boolean()
      .default(false)
      .describe("fsync on every write: survives a power cut, not only a killed process."),
  })
    .prefault({})
    .describe("The file under everything."),
  locale: z
    .enum(["en", "es", "pt-BR", "hi"])
    .default("en")
    .describe("The language of people whose client tells none that is known."),
});
