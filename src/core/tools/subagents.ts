import { z } from "zod";
import type { Children } from "../children/children.ts";
import {
  everyNode,
  isOpen,
  sinceMs,
  type TaskNode,
  type TaskViewParts,
  taskTree,
  viewOf,
} from "../children/task-tree.ts";
import { stateWords, type TaskView, viewName } from "../children/task-view.ts";
import { displayKey } from "../session/describe.ts";
import type { KeyNames } from "../session/key.ts";
import { cleanLine } from "../text/lines.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import {
  type Answer,
  type Caller,
  clamped,
  defineTool,
  failure,
  type ToolBasics,
  toolInput,
} from "./define-tool.ts";

const MINUTE_MS = 60_000;

const input = toolInput({
  action: z
    .enum(["list", "cancel"])
    .default("list")
    .describe("list: what is at work and what has ended. cancel: stop one of them, and all below it."),
  target: z
    .union([z.string().trim().min(1).max(1024), z.number().int().positive()])
    .optional()
    .describe("cancel: which one: its runId, session key, label, or index in the list."),
  recentMinutes: clamped(1, 1440, "list: ended ones of the last so many minutes").default(30),
});

type Asked = z.output<typeof input>;

export interface SubagentsParts extends ToolBasics, TaskViewParts {
  readonly names: KeyNames;
  readonly children: Children;
}

export function subagents(parts: SubagentsParts) {
  return defineTool(
    {
      name: "subagents",
      description:
        "List the subagents that you spawned, with their true states, or cancel one. Their results come to you by themselves: to wait, call sessions_yield and do not poll this list.",
      input,
      async run(asked, caller) {
        if (asked.action === "cancel") return cancel(asked.target, caller, parts);
        if (asked.target === undefined) return list(asked, caller, parts);
        return failure("INPUT_INVALID", 'target: belongs to action "cancel"; the list is always whole');
      },
    },
    parts.logger,
  );
}

async function list({ recentMinutes }: Asked, { session }: Caller, parts: SubagentsParts): Promise<Answer> {
  const nodes = await taskTree(session.key, parts);
  const shown = sinceMs(nodes, recentMinutes * MINUTE_MS, parts.clock.now());
  let redacted = false;
  const redact = (text: string) => {
    const masked = parts.redactor.redact(text);
    redacted ||= masked.redacted;
    return masked;
  };
  const views = (some: readonly TaskNode[]) =>
    Promise.all(some.map((node) => viewOf(node, { ...parts, redactor: { redact } })));
  const active = await views(shown.filter(isOpen));
  const recent = await views(shown.filter((node) => !isOpen(node)));
  const own = displayKey(session.key, session.agentId, parts.names);
  return {
    status: "ok",
    action: "list",
    requesterSessionKey: own,
    callerSessionKey: own,
    callerIsSubagent: session.spawnedBy !== undefined,
    total: shown.length,
    active,
    recent,
    text: [
      block("Active subagents", active),
      block(`Recent subagents (last ${recentMinutes} min)`, recent),
    ].join("\n\n"),
    ...(redacted ? { contentRedacted: true, notice: MASK_NOTICE } : {}),
  };
}

function block(title: string, views: readonly TaskView[]): string {
  return [`${title}:`, ...(views.length === 0 ? ["none"] : views.map(line))].join("\n");
}

function line(view: TaskView): string {
  const { index, runtime, model, totalTokens, error } = view;
  const facts = [
    stateWords(view),
    runtime,
    model,
    totalTokens === undefined ? undefined : `${totalTokens} tokens`,
  ];
  const known = facts.filter((fact) => fact !== undefined).join(", ");
  return `${index}. ${viewName(view)}: ${known}${error === undefined ? "" : ` (${error})`}`;
}

/** One answer for what is not there and for what is not the caller's: it does not tell whether that exists. */
const NOT_FOUND = failure(
  "CHILD_NOT_FOUND",
  'No subagent of yours fits this target. Call subagents with action "list" to see them.',
);

async function cancel(target: Asked["target"], caller: Caller, parts: SubagentsParts): Promise<Answer> {
  if (target === undefined) {
    return failure(
      "INPUT_INVALID",
      "target: say which subagent: its runId, session key, label, or index in the list",
    );
  }
  const nodes = await taskTree(caller.session.key, parts);
  const named = everyNode(nodes).filter(isNamed(String(target)));
  const meant = new Set(named.length > 0 ? named : atIndex(nodes, target));
  const open = [...meant].filter(isOpen);
  const [only, ...others] = open;
  if (only === undefined) return meant.size === 0 ? NOT_FOUND : hasEnded([...meant], parts);
  if (others.length > 0) {
    const keys = open.map(({ child }) => child.key).join(", ");
    return failure("SESSION_AMBIGUOUS", `${open.length} subagents of yours fit this target: ${keys}.`);
  }
  const cancelled = await parts.children.stop(only.child, "requester");
  if (cancelled.length === 0) return hasEnded([only], parts);
  const count = cancelled.length === 1 ? "1 subagent" : `${cancelled.length} subagents`;
  return {
    status: "ok",
    action: "cancel",
    cancelled,
    text: `Stopped ${count}. The end comes to you as an event, like every other.`,
  };
}

function isNamed(target: string): (node: TaskNode) => boolean {
  return ({ child: { runId, key, label } }) =>
    target === runId || target.toLowerCase() === key || cleanLine(target) === label;
}

/** The index counts the caller's own subagents, as in its list. */
function atIndex(nodes: readonly TaskNode[], target: string | number): readonly TaskNode[] {
  const written = /^#?(\d{1,9})$/.exec(String(target))?.[1];
  return nodes.filter(({ index }) => index === Number(written));
}

async function hasEnded(nodes: readonly TaskNode[], parts: SubagentsParts): Promise<Answer> {
  const [known] = nodes;
  const now = known && (await parts.children.get(known.child.id));
  const state = known && now && stateWords(await viewOf({ ...known, child: now }, parts));
  return failure(
    "NOTHING_PENDING",
    `That subagent has ended already (${state}); there is nothing to cancel.`,
  );
}
