import { withoutTranscript } from "../children/stats-line.ts";
import { given } from "../given.ts";
import { maySpawn } from "../policy/spawn.ts";
import type { Address } from "../ports/chat.ts";
import type { NewEntry } from "../ports/run.ts";
import type { SessionKey } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import { labelOf } from "../session/patch.ts";
import { historyWindow } from "../transcript/window.ts";
import type { Answer, Caller } from "./define-tool.ts";
import type { SpawnInput } from "./sessions-spawn.ts";
import { chatOf, type Refused, refused, type SpawnCheckParts, spawnProblem } from "./spawn-checks.ts";

/** What a spawn comes to, decided before anything is made. */
export type SpawnPlan =
  | {
      readonly possible: true;
      readonly chosen: {
        readonly agentId: string;
        readonly label?: string;
        readonly model?: string;
        readonly thinking?: string;
        readonly timeoutSeconds: number;
        readonly sandboxed: boolean;
        readonly inherited: readonly NewEntry[];
        /** What takes the label from a child that has ended. */
        readonly freeing: readonly Write[];
      };
      readonly openThread?: () => Promise<Address>;
      /** What the caller should know beside. */
      readonly notes: Answer;
    }
  | Refused;

/** Every option of a spawn checked. LABEL_INVALID is thrown. */
export async function spawnPlan(
  asked: SpawnInput,
  caller: Caller,
  parts: SpawnCheckParts,
): Promise<SpawnPlan> {
  const { session, sandboxed } = caller;
  const spawner = { agentId: session.agentId, depth: session.spawnDepth ?? 0, sandboxed };
  const may = maySpawn(spawner, asked.agentId?.toLowerCase(), parts.config, parts.agentIds);
  if (!may.allowed) return refused(may.code, may.reason);
  const { agentId } = may;
  const problem = await spawnProblem(asked, agentId, caller, parts);
  if (problem !== undefined) return problem;
  const model = modelFor(asked, agentId, caller, parts);
  if ("possible" in model) return model;
  const label = asked.label === undefined ? undefined : labelOf(asked.label);
  const freeing = label === undefined ? [] : await freeingLabel(label, agentId, parts);
  if ("possible" in freeing) return freeing;
  const { runTimeoutSeconds } = parts.config.agents.defaults.subagents;
  return {
    possible: true,
    chosen: {
      agentId,
      timeoutSeconds: asked.runTimeoutSeconds ?? runTimeoutSeconds,
      sandboxed: caller.sandboxed || asked.sandbox === "require",
      inherited: forks(asked, agentId, caller, parts) ? await transcriptOf(caller, parts) : [],
      freeing,
      ...given({
        label,
        model: model.model,
        thinking: thinkingFor(asked, agentId, caller, parts),
      }),
    },
    notes: model.notes,
    ...given({ openThread: threadOpener(asked, caller, parts) }),
  };
}

function threadOpener(asked: SpawnInput, caller: Caller, parts: SpawnCheckParts) {
  const at = asked.thread ? chatOf(caller) : undefined;
  const open = at && parts.threadsAt(at);
  return open && (() => open(asked.label ?? asked.task));
}

/** In this order: the call, the agent's setting, the general one, and what the caller itself was switched to. */
function modelFor(
  asked: SpawnInput,
  agentId: string,
  { session }: Caller,
  { config, agents }: SpawnCheckParts,
): { readonly model: string | undefined; readonly notes: Answer } | Refused {
  if (asked.runtime === "acp") return { model: undefined, notes: {} };
  const { strictModel, subagents } = config.agents.defaults;
  const own = config.agents.list.find(({ id }) => id === agentId)?.subagents.model;
  const inherited = agentId === session.agentId ? session.modelOverride : undefined;
  const usual = own ?? subagents.model ?? inherited;
  if (asked.model === undefined) return { model: usual, notes: {} };
  const models = agents.get(agentId)?.models;
  if (models === undefined || models.includes(asked.model)) {
    return { model: asked.model, notes: { modelApplied: true } };
  }
  const unknown = `Agent "${agentId}" has no model "${asked.model}". Models: ${models.join(", ")}.`;
  if (strictModel) return refused("MODEL_UNKNOWN", unknown);
  return { model: usual, notes: { modelApplied: false, warning: unknown } };
}

function thinkingFor(
  { thinking, runtime }: SpawnInput,
  agentId: string,
  { session }: Caller,
  { config }: SpawnCheckParts,
): string | undefined {
  if (runtime === "acp") return undefined;
  const own = config.agents.list.find(({ id }) => id === agentId)?.subagents.thinking;
  const inherited = agentId === session.agentId ? session.thinkingLevel : undefined;
  return thinking ?? own ?? config.agents.defaults.subagents.thinking ?? inherited;
}

/** A thread goes on with the talk that it came from, unless the config or the call says otherwise. */
function forks(
  asked: SpawnInput,
  agentId: string,
  { session }: Caller,
  { config }: SpawnCheckParts,
): boolean {
  if (asked.runtime === "acp" || agentId !== session.agentId) return false;
  const usual = asked.thread ? config.session.threadBindings.defaultSpawnContext : "isolated";
  return (asked.context ?? usual) === "fork";
}

/** What the caller knows until now, as far as its own runs would be given it. */
async function transcriptOf(
  { session, run }: Caller,
  { storage, config }: SpawnCheckParts,
): Promise<readonly NewEntry[]> {
  const { maxEntries, maxBytes } = config.agents.defaults.history;
  const page = await storage.transcripts.page(session.sessionId, { limit: maxEntries });
  // A runner that reports while it works has rows of this run there, too.
  const before = page.entries.filter(({ id }) => id.slice(0, id.lastIndexOf(":")) !== run?.runId);
  const known = historyWindow(before, { maxEntries, maxBytes });
  const rows = [...known.map(({ id: _id, seq: _seq, ...entry }) => entry), ...(run?.soFar() ?? [])];
  return rows.map(withoutPaths);
}

/** What its requester may know of files, a child may not. */
function withoutPaths(entry: NewEntry): NewEntry {
  if (entry.provenance?.kind !== "internal_system") return entry;
  const content = entry.content.map((block) =>
    block.type === "text" ? { ...block, text: withoutTranscript(block.text) } : block,
  );
  return { ...entry, content };
}

/** A label belongs to work that goes on: a child that has ended gives it up. Seen before anything is made; the index has the last word. */
async function freeingLabel(
  label: string,
  agentId: string,
  parts: SpawnCheckParts,
): Promise<readonly Write[] | Refused> {
  const [holder] = await parts.storage.index.byLabel(label, agentId, 1);
  if (holder === undefined) return [];
  if (await isInUse(holder, parts)) {
    const taken = `Another session of agent "${agentId}" has the label ${JSON.stringify(label)}. Choose another one.`;
    return refused("LABEL_IN_USE", taken);
  }
  return [withoutLabel(holder, label)];
}

async function isInUse(key: SessionKey, { sessions, children }: SpawnCheckParts): Promise<boolean> {
  const session = await sessions.get(key);
  if (session?.spawnedBy === undefined) return session !== undefined;
  const task = await children.taskOf(key);
  return task !== undefined && !(await children.isOver(task));
}

function withoutLabel(key: SessionKey, label: string): Write {
  return {
    type: "record",
    table: "session",
    key,
    change(current) {
      if (current?.label !== label) return current;
      const { label: _given, ...rest } = current;
      return rest;
    },
  };
}
