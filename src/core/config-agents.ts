import { z } from "zod";
import { agentId, closed, toolRules } from "./config-parts.ts";

/** How hard a model may think; what a level means is the runner's business. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

const allowAgents = z.array(z.string().trim().min(1)).optional();
const thinking = z.enum(THINKING_LEVELS).optional();

/** What holds for children. */
const subagents = closed({
  maxConcurrent: z
    .number()
    .int()
    .min(1)
    .max(64)
    .default(8)
    .describe("Children at work at the same time, of all requesters; the others wait."),
  maxSpawnDepth: z
    .number()
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe("How deep children may be below a session; 1 = children may not spawn."),
  maxChildrenPerAgent: z.number().int().min(1).max(20).default(5).describe("Open tasks of one requester."),
  maxOpen: z.number().int().min(1).max(1000).default(100).describe("Open tasks of all requesters."),
  maxSpawnsPerHour: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(60)
    .describe("Spawns of one requester within an hour."),
  archiveAfterMinutes: z
    .number()
    .int()
    .min(0)
    .max(525_600)
    .default(60)
    .describe("Minutes after its end when a child leaves the lists; 0 = never."),
  runTimeoutSeconds: z
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(0)
    .describe("Longest task in seconds where the spawn does not say; 0 = no limit."),
  model: z.string().min(1).optional().describe("Model of children where the spawn does not say."),
  thinking: thinking.describe("How hard children think where the spawn does not say."),
  allowAgents: allowAgents.describe(
    'For agents without a list of their own: which agents they may spawn beside themselves; "*" = any.',
  ),
  announce: z
    .enum(["auto", "channel", "requester", "none"])
    .default("auto")
    .describe(
      "Who hears what came of a child: the chat, the requester's agent, or nobody but its transcript. auto: the requester where it waits, is a child itself or has no chat, else the chat.",
    ),
});

const history = closed({
  maxEntries: z.number().int().min(0).max(1000).default(200).describe("Rows of the transcript."),
  maxBytes: z.number().int().min(1024).max(4_194_304).default(262_144).describe("Bytes of all of them."),
});

const defaults = closed({
  strictModel: z
    .boolean()
    .default(true)
    .describe("false: an unknown model in a tool call is a warning, and the run goes on with the usual one."),
  subagents: subagents.prefault({}).describe("What holds for children."),
  maxConcurrent: z
    .number()
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe("Runs of agents at the same time. A run that waits for another does not count."),
  timeoutSeconds: z
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(600)
    .describe("Longest run in seconds; 0 = no limit."),
  history: history.prefault({}).describe("What a run is given of its transcript, at most."),
  queue: z
    .enum(["followup", "collect", "interrupt"])
    .default("followup")
    .describe(
      "Messages that come while the agent is at work. followup: each gets its turn. collect: up to 20 of a chat that wait become one turn. interrupt: the same, and a message ends the turn that an earlier one of its chat began: an owner's only for an owner, and no more than five in a row.",
    ),
  resume: z
    .enum(["tell", "retry"])
    .default("tell")
    .describe("Whether a run that a restart interrupted is told, or tried again."),
  sandbox: closed({
    sessionToolsVisibility: z
      .enum(["spawned", "all"])
      .default("spawned")
      .describe(
        "Which sessions their tools reach: those that they spawned, or what tools.sessions.visibility says.",
      ),
  })
    .prefault({})
    .describe("What holds for sandboxed sessions."),
});

const agent = closed({
  id: agentId.describe("Id of the agent in the options."),
  default: z
    .boolean()
    .optional()
    .describe("Whether it answers where no binding fits; else the first agent does."),
  model: z.string().min(1).optional().describe("Model of its runs; absent: its runner decides."),
  sandbox: closed({
    mode: z
      .enum(["off", "non-main", "all"])
      .default("off")
      .describe("Which of its sessions are sandboxed: none, all but its main session, or all."),
  })
    .prefault({})
    .describe("Whether its tools are limited to what it spawned."),
  tools: closed(toolRules).prefault({}).describe("Which session tools it has."),
  subagents: closed({
    allowAgents: allowAgents.describe('Which agents it may spawn beside itself; "*" = any.'),
    model: z.string().min(1).optional().describe("Model of the children that it spawns."),
    thinking: thinking.describe("How hard the children that it spawns think."),
  })
    .prefault({})
    .describe("What is different for its children."),
});

export const agents = closed({
  defaults: defaults.prefault({}).describe("What holds for all agents."),
  list: z.array(agent).default([]).describe("What is different for single agents."),
});
