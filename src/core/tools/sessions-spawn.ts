import { z } from "zod";
import { childIdFor } from "../children/child-id.ts";
import type { Children } from "../children/children.ts";
import { originAt } from "../children/origin.ts";
import { THINKING_LEVELS } from "../config-agents.ts";
import { deliveryFailureOf, type ErrorCode, messageOf, SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import { RAW_LABEL_UNITS } from "../limits.ts";
import { messageText } from "../message-text.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import { createKeyLock } from "../storage/key-lock.ts";
import {
  type Answer,
  type Caller,
  clamped,
  defineTool,
  failure,
  forbidden,
  type ToolBasics,
  type ToolCall,
  toolInput,
} from "./define-tool.ts";
import type { SpawnCheckParts } from "./spawn-checks.ts";
import { type SpawnPlan, spawnPlan } from "./spawn-plan.ts";

const MAX_TIMEOUT_SECONDS = 86_400;

const input = toolInput({
  task: messageText("task", "say where the rest can be found").describe(
    "What the subagent is to do, with all that it needs to know.",
  ),
  label: z
    .string()
    .max(RAW_LABEL_UNITS)
    .optional()
    .describe("A short name for it, unique among the sessions of its agent."),
  agentId: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, "an agent id is 1–64 of a–z 0–9 _ -; see agents_list")
    .optional()
    .describe("Which agent does it; agents_list shows the allowed ones. Default: your own."),
  model: z.string().trim().min(1).max(200).optional().describe("Model of the subagent."),
  thinking: z.enum(THINKING_LEVELS).optional().describe("How hard it may think."),
  runTimeoutSeconds: clamped(0, MAX_TIMEOUT_SECONDS, "Stop it after so long; 0 = no limit").optional(),
  cleanup: z
    .enum(["delete", "keep"])
    .default("keep")
    .describe("delete: its session goes when the result has been told."),
  runtime: z
    .enum(["subagent", "acp"])
    .default("subagent")
    .describe("acp: an external coding harness does it, where the bot has one."),
  thread: z
    .boolean()
    .default(false)
    .describe("Give it a thread of this chat, in which people can talk to it (Discord, Telegram topics)."),
  sandbox: z
    .enum(["inherit", "require"])
    .default("inherit")
    .describe("require: it must be confined, else nothing is spawned."),
  context: z
    .enum(["isolated", "fork"])
    .optional()
    .describe("fork: it begins with a copy of your transcript (your own agent only)."),
  announce: z
    .enum(["auto", "channel", "requester", "none"])
    .optional()
    .describe(
      "Who hears of the end. auto: you, when you yield; else the chat. channel: the chat. requester: you, in a turn of your own. none: only your transcript.",
    ),
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("The same key again returns the first call's subagent."),
});

export type SpawnInput = z.output<typeof input>;

export interface SpawnParts extends ToolBasics, SpawnCheckParts {
  readonly queue: RunQueue;
  readonly events: Events;
  readonly children: Children;
}

export function sessionsSpawn(parts: SpawnParts) {
  // Two calls at once that mean the same spawn: the second finds what the first has made.
  const oneAtATime = createKeyLock();
  return defineTool(
    {
      name: "sessions_spawn",
      description:
        "Give a task to a new subagent and go on at once. Its result comes to you by itself: do not poll. To wait for it, call sessions_yield.",
      input,
      run(asked, caller, call) {
        const id = childIdOf(asked, caller, call);
        return oneAtATime(id, () => spawn({ id, asked, caller, signal: call.signal }, parts));
      },
    },
    parts.logger,
  );
}

/** One call, and the child that it means. */
interface SpawnCall {
  readonly id: string;
  readonly asked: SpawnInput;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

async function spawn(spawning: SpawnCall, parts: SpawnParts): Promise<Answer> {
  const { id, asked, caller } = spawning;
  const known = await parts.children.get(id);
  if (known !== undefined) return accepted(known, {});
  const plan = await spawnPlan(asked, caller, parts);
  if (!plan.possible) return refusal(plan.code, plan.reason);
  try {
    return await carryOut(spawning, plan, parts);
  } catch (error) {
    await parts.children.giveUp(id, caller.session).catch((late: unknown) => {
      parts.logger.warn(
        { error: messageOf(late) },
        "A place that was reserved for a child is free in five minutes",
      );
    });
    if (error instanceof SwitchboardError && REFUSALS.has(error.code))
      return refusal(error.code, error.message);
    throw error;
  }
}

async function carryOut(
  { id, asked, caller, signal }: SpawnCall,
  plan: Extract<SpawnPlan, { possible: true }>,
  parts: SpawnParts,
): Promise<Answer> {
  const { children, queue, events, config } = parts;
  const { session: requester, run } = caller;
  const origin = originAt(run?.replyTo, requester);
  const thread = plan.openThread && (await openThread(id, plan.openThread, caller, parts));
  const { child, ...made } = await children.open({
    id,
    requester,
    task: asked.task,
    runtime: asked.runtime,
    audience: asked.announce ?? config.agents.defaults.subagents.announce,
    cleanup: asked.thread ? "keep" : asked.cleanup,
    chain: run?.chain ?? [],
    ownerChat: run?.byOwner === true && origin?.chatType === "direct",
    isWanted: () => !signal.aborted,
    ...plan.chosen,
    ...given({ origin, locale: run?.locale, thread }),
  });
  if ((await queue.enqueue(made.run, { writes: made.writes })) === "duplicate") {
    return accepted((await children.get(id)) ?? child, {});
  }
  if (signal.aborted) {
    // It was stopped while the store took its time, and its stop did not know of this child.
    await children.stop(child, "requester");
    throw new SwitchboardError("CLOSED", "This run was stopped; what it spawned was stopped with it.");
  }
  events.emit("child.spawned", { childId: id, sessionKey: child.key, requester: requester.key });
  return accepted(child, plan.notes);
}

/** The places are taken before the platform is asked, so that nobody opens threads for children that may not be. */
async function openThread(
  id: string,
  open: () => Promise<Address>,
  { session }: Caller,
  { children }: SpawnParts,
): Promise<Address> {
  await children.reserve(id, session);
  try {
    return await open();
  } catch (error) {
    const advice = deliveryFailureOf(error).retryable
      ? "Try again later, or spawn without thread: true."
      : "Spawn without thread: true, or give the bot the right to open threads.";
    const message = `The thread could not be opened: ${messageOf(error)} ${advice}`;
    throw new SwitchboardError("THREAD_UNAVAILABLE", message, { cause: error });
  }
}

/** Codes of what a session may not do; the others say that the call itself was wrong. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "AGENT_NOT_ALLOWED",
  "SPAWN_DEPTH",
  "SPAWN_LIMIT",
  "SPAWN_BUDGET",
  "SANDBOX_UNAVAILABLE",
]);

function refusal(code: ErrorCode, reason: string): Answer {
  return REFUSALS.has(code) ? forbidden(reason, code) : failure(code, reason);
}

function accepted({ runId, key, thread, depth }: Child, notes: Answer): Answer {
  return {
    status: "accepted",
    runId,
    childSessionKey: key,
    depth,
    ...(thread === undefined ? {} : { thread: { channel: thread.channel, threadId: thread.threadId } }),
    ...notes,
    note: "Its result will come to you by itself. Do not poll; call sessions_yield to wait for it.",
  };
}

function childIdOf(asked: SpawnInput, caller: Caller, call: ToolCall): string {
  const { idempotencyKey } = asked;
  return idempotencyKey === undefined
    ? // Some models number their calls anew in each of their turns: another task is another call.
      childIdFor(caller.callScope, `${call.callId} ${JSON.stringify(asked)}`)
    : childIdFor(caller.session.key, idempotencyKey);
}
