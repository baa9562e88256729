import type { Config } from "../config.ts";
import { given } from "../given.ts";
import { isSandboxed } from "../policy/sandbox.ts";
import { SESSION_TOOLS } from "../policy/tool-lists.ts";
import { decideTools, type Room, type ToolDecision } from "../policy/tools.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { type KeyNames, partsOf } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import { runModel } from "./run-model.ts";

/** What is known beside the session. */
export interface ToolUse {
  /** Where the answer goes, or where a person asks. Absent: the session's own route. */
  readonly place?: Address;
  /** Absent: outside of a run, where the model counts that the session's next run would have. */
  readonly run?: { readonly model?: string };
}

/** Which session tools a session may use as it is now, and which setting takes each of the others away. */
export type ToolCheck = (session: Session, use?: ToolUse) => Promise<ToolDecision>;

export interface ToolCheckParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly sessions: Pick<Sessions, "get">;
  readonly children: { taskOf(key: SessionKey): Promise<Child | undefined> };
}

/** Deepest line of requesters; a longer one can only be a damaged record. */
const MAX_STEPS = 16;

/** Reads the session's requesters and their tasks, and nothing else: it costs the same however many sessions there are. */
export function createToolCheck(parts: ToolCheckParts): ToolCheck {
  const { config, names } = parts;
  return async (session, { place = session.route, run } = {}) =>
    decideTools(SESSION_TOOLS, config, {
      agentId: session.agentId,
      depth: session.spawnDepth ?? 0,
      rooms: [...roomAt(place), ...(await roomsAbove(session, parts))],
      sandboxed: isSandboxed(session, config, names),
      ...given({ model: run === undefined ? runModel(session, config) : run.model }),
    });
}

/** The session's own room, and for a child the rooms in which it and its requesters were asked for. */
async function roomsAbove(
  session: Session,
  { sessions, children }: ToolCheckParts,
): Promise<readonly Room[]> {
  const rooms: Room[] = [];
  let at: Session | undefined = session;
  for (let step = 0; step < MAX_STEPS && at !== undefined; step++) {
    rooms.push(...ownRooms(at));
    if (at.spawnedBy === undefined) break;
    // Whoever asked may be gone, or sit in one session with all other chats.
    rooms.push(...roomInKey(at.spawnedBy), ...roomAt((await children.taskOf(at.key))?.origin));
    at = await sessions.get(at.spawnedBy);
  }
  return rooms;
}

/** What was set for a group's old id still holds when it has become a supergroup. */
function ownRooms({ key, origin }: Session): readonly Room[] {
  const rooms = roomInKey(key);
  return rooms.length === 0 ? [] : [...rooms, ...roomAt(origin)];
}

function roomInKey(key: SessionKey): readonly Room[] {
  const parsed = partsOf(key);
  if (parsed.family !== "group" && parsed.family !== "channel") return [];
  return [{ channel: parsed.channel, chatId: parsed.chatId }];
}

function roomAt({ channel, chatType, chatId }: Partial<Address> = {}): readonly Room[] {
  if (chatType !== "group" && chatType !== "channel") return [];
  return channel === undefined || chatId === undefined ? [] : [{ channel, chatId }];
}
