import type { Config } from "../config.ts";
import { maySend, type SendDecision } from "../policy/send.ts";
import type { Address } from "../ports/chat.ts";
import type { Session } from "../ports/session.ts";
import { parentKey } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";

/** May text of this session leave for this address (absent: its own route)? A thread follows its room unless it is set itself. */
export type SendCheck = (session: Session, at?: Address) => Promise<SendDecision>;

export function createSendCheck(sessions: Sessions, config: Config): SendCheck {
  return async (session, at) => {
    const room = session.sendPolicy === undefined ? parentKey(session.key) : undefined;
    const parent = room === undefined ? undefined : await sessions.get(room);
    return maySend(session, config, {
      ...(at === undefined ? {} : { at }),
      ...(parent === undefined ? {} : { parent }),
    });
  };
}
