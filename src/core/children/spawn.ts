import { SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { NewRun } from "../ports/engine.ts";
import type { NewEntry } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import { type Job, jobRun } from "../runs/job.ts";
import { childRunId, spawnRunId } from "../runs/run-id.ts";
import { turnWrite } from "../runs/turn.ts";
import { newSession } from "../session/arrival.ts";
import { channelOf, outwardKey } from "../session/describe.ts";
import { subagentKey } from "../session/key.ts";
import { EVERYBODY, type FamilyLimits, RESERVED_MS, withOpened, withoutPlace } from "./family.ts";
import { type ChildParts, isOver } from "./parts.ts";
import { familyWrite } from "./settle.ts";
import { bindings } from "./thread-bindings.ts";

/** A task that may be spawned: everything was checked but the places, which are taken in the same write. */
export interface SpawnRequest {
  readonly id: string;
  readonly requester: Session;
  readonly agentId: string;
  readonly task: string;
  readonly label?: string;
  readonly model?: string;
  readonly thinking?: string;
  /** 0 = no limit. */
  readonly timeoutSeconds: number;
  readonly runtime: Child["runtime"];
  readonly cleanup: Child["cleanup"];
  readonly audience: Child["audience"];
  readonly sandboxed: boolean;
  readonly chain: Child["chain"];
  readonly origin?: Partial<Address>;
  readonly ownerChat: boolean;
  readonly locale?: string;
  readonly thread?: Address;
  /** Rows that the child begins with. */
  readonly inherited: readonly NewEntry[];
  /** Asked when the places are taken: a caller that was stopped meanwhile begins nothing any more. */
  readonly isWanted: () => boolean;
  /** Written when the places are taken, before the child is made. */
  readonly freeing: readonly Write[];
}

/** The child, and all that makes it. */
export interface Spawning {
  readonly child: Child;
  readonly run: NewRun;
  readonly writes: readonly Write[];
}

/** A place that is being taken; the write that takes it gives it its number, for the writes that come after. */
interface Taking {
  readonly id: string;
  readonly nowMs: number;
  readonly reserved?: true;
  number: number;
}

export function createSpawning(parts: ChildParts) {
  const { clock, storage } = parts;

  const placeWrites = async (
    requester: Session,
    place: Taking,
    isWanted: () => boolean = () => true,
  ): Promise<readonly Write[]> => {
    const { maxChildrenPerAgent, maxOpen, maxSpawnsPerHour } = parts.config.agents.defaults.subagents;
    const mine: FamilyLimits = {
      maxOpen: maxChildrenPerAgent,
      maxPerHour: maxSpawnsPerHour,
      whose: "This session has",
      openSetting: "agents.defaults.subagents.maxChildrenPerAgent",
      hourSetting: "agents.defaults.subagents.maxSpawnsPerHour",
    };
    const all: FamilyLimits = {
      ...mine,
      maxOpen,
      maxPerHour: Number.POSITIVE_INFINITY,
      whose: "All sessions together have",
      openSetting: "agents.defaults.subagents.maxOpen",
    };
    const over = new Set([
      ...(await overIn(requester.key, maxChildrenPerAgent, place.nowMs, parts)),
      ...(await overIn(EVERYBODY, maxOpen, place.nowMs, parts)),
    ]);
    return [
      familyWrite(requester.key, (family) => {
        if (!isWanted()) throw new SwitchboardError("CLOSED", "This run was stopped; nothing was spawned.");
        const taken = withOpened(family, place, mine, over);
        place.number = taken.open.find(({ id }) => id === place.id)?.number ?? 0;
        return taken;
      }),
      familyWrite(EVERYBODY, (family) => withOpened(family, place, all, over)),
    ];
  };

  return {
    /** Takes the places for a task whose preparation has effects outside. They are free again after five minutes, or with `giveUp`. */
    async reserve(id: string, requester: Session): Promise<void> {
      const place: Taking = { id, nowMs: clock.now(), reserved: true, number: 0 };
      await storage.apply(await placeWrites(requester, place));
    },
    /** The spawn did not come about: its places are free again. Nothing when it did. */
    async giveUp(id: string, requester: Session): Promise<void> {
      if ((await storage.records("child").get(id)) !== undefined) return;
      const keys = [requester.key, EVERYBODY];
      await storage.apply(keys.map((key) => familyWrite(key, (family) => withoutPlace(family, id))));
    },
    /** SPAWN_LIMIT or SPAWN_BUDGET from the writes when they are applied: then nothing was made. */
    async open(request: SpawnRequest): Promise<Spawning> {
      const nowMs = clock.now();
      const child = childOf(request, nowMs);
      const place: Taking = { id: child.id, nowMs, number: 0 };
      const session = sessionOf(request, child, nowMs, clock.uuid());
      const writes: Write[] = [
        ...(await placeWrites(request.requester, place, request.isWanted)),
        ...request.freeing,
        // A key that was used before, so long ago that its task is forgotten, names a new child.
        { type: "record", table: "session", key: child.key, change: () => session },
        { type: "record", table: "child", key: child.id, change: () => ({ ...child, number: place.number }) },
        ...inheriting(request, session),
        ...bindings(child, parts.agentIds).map(
          ({ key, to }): Write => ({ type: "record", table: "moved", key, change: () => ({ to }) }),
        ),
      ];
      return { child, run: taskRun(request, child, parts), writes };
    },
  };
}

function childOf(request: SpawnRequest, nowMs: number): Child {
  const { id, requester, agentId, timeoutSeconds } = request;
  const { task, label, runtime, cleanup, audience, chain, origin, locale, thread } = request;
  return {
    id,
    runId: spawnRunId(id),
    key: subagentKey(agentId, id),
    requester: requester.key,
    task,
    runtime,
    depth: (requester.spawnDepth ?? 0) + 1,
    number: 0,
    audience,
    cleanup,
    chain,
    spawnedAtMs: nowMs,
    timeoutSeconds,
    ...given({ label, origin, locale, thread }),
    ...(request.ownerChat ? { ownerChat: true as const } : {}),
  };
}

function sessionOf(request: SpawnRequest, child: Child, nowMs: number, newSessionId: string): Session {
  const { agentId, requester, label, model: modelOverride, thinking: thinkingLevel, thread: route } = request;
  const born = newSession({ key: child.key, agentId, nowMs, newSessionId });
  const place = route && { route, origin: route, channel: route.channel, chatType: route.chatType };
  return {
    ...born,
    ...place,
    spawnedBy: requester.key,
    spawnDepth: child.depth,
    ...given({ label, modelOverride, thinkingLevel }),
    ...(request.sandboxed ? { sandboxed: true } : {}),
    ...(request.runtime === "acp" ? { runtime: "acp" } : {}),
  };
}

/** The first run: the task is what the child is asked, unchanged. */
function taskRun(request: SpawnRequest, child: Child, { names, clock }: ChildParts): NewRun {
  const { requester, chain, timeoutSeconds, thread: replyTo, locale } = request;
  const job: Job = {
    sessionKey: child.key,
    trigger: "spawn",
    text: child.task,
    atMs: clock.now(),
    provenance: {
      kind: "inter_session",
      sourceSessionKey: outwardKey(requester.key, names),
      sourceChannel: channelOf(requester),
      sourceTool: "sessions_spawn",
    },
    chain: [...chain, requester.key],
    child: { id: child.id, step: "task" },
    timeoutSeconds,
    ...given({ replyTo, locale }),
  };
  return jobRun(child.runId, "agent", job);
}

/** What the requester knows is the child's first turn, and its task the second. */
function inheriting({ inherited, id }: SpawnRequest, session: Session): readonly Write[] {
  if (inherited.length === 0) return [];
  return [turnWrite(session, { turn: 1, firstSeq: 1 }, childRunId(spawnRunId(id), "fork"), inherited)];
}

/** Tasks that are over and still hold a place: only a store without transactions leaves such. Looked at when all places are taken. */
async function overIn(
  key: string,
  max: number,
  nowMs: number,
  parts: ChildParts,
): Promise<readonly string[]> {
  const open = (await parts.storage.records("family").get(key))?.open ?? [];
  if (open.length < max) return [];
  const children = await parts.storage.records("child").getMany(open.map(({ id }) => id));
  const over = await Promise.all(
    open.map(async ({ sinceMs }, index) => {
      const child = children[index];
      // The record may be on its way.
      return child === undefined ? nowMs - sinceMs > RESERVED_MS : isOver(child, parts);
    }),
  );
  return open.flatMap(({ id }, index) => (over[index] === true ? [id] : []));
}
