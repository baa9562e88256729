import type { Config } from "../config.ts";
import { given } from "../given.ts";
import { maySend, type SendDecision } from "../policy/send.ts";
import type { Address } from "../ports/chat.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { parentKey } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";

/** May text of this session leave for this address (absent: its own route)? A thread follows its room, and a child its requester, unless set itself. */
export type SendCheck = (session: Session, at?: Address) => Promise<SendDecision>;

/** Children of threads of rooms; more can only be a damaged record. */
const MAX_STEPS = 16;

export function createSendCheck(sessions: Sessions, config: Config): SendCheck {
  return async (session, at) => {
    const parent = await nearestWithOverride(session, sessions);
    const ancestors = session.spawnedBy === undefined ? [] : await sessions.ancestors(session.key);
    return maySend(session, config, given({ at, parent, ancestors }));
  };
}

async function nearestWithOverride(session: Session, sessions: Sessions): Promise<Session | undefined> {
  let around: Session | undefined = session;
  for (let step = 0; step < MAX_STEPS && around !== undefined && around.sendPolicy === undefined; step++) {
    const key: SessionKey | undefined = parentKey(around.key) ?? around.spawnedBy;
    around = key === undefined ? undefined : await sessions.get(key);
  }
  return around;
}
