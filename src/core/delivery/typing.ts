import { messageOf } from "../errors.ts";
import type { Address, ChannelAdapter } from "../ports/chat.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session } from "../ports/session.ts";
import type { Sessions } from "../session/sessions.ts";
import type { SendCheck } from "./send-check.ts";

/** Platforms show "typing" for 5 to 10 s. */
const REPEAT_MS = 5000;

/**
 * "Typing" where a reply is being made, until the returned function is called. It tells people something, so the send policy is asked; it is decoration,
 * so failures are only logged.
 */
export function createTyping(parts: {
  readonly adapterFor: (address: Address) => ChannelAdapter | undefined;
  readonly sessions: Sessions;
  readonly sendCheck: SendCheck;
  readonly clock: Clock;
  readonly logger: Logger;
}): (session: Session, at: Address | undefined) => () => void {
  const { clock, logger, sendCheck, sessions } = parts;
  return (session, at) => {
    const adapter = at === undefined ? undefined : parts.adapterFor(at);
    if (at === undefined || adapter?.setTyping === undefined) return () => {};
    let ended = false;
    let cancel = () => {};
    const show = async () => {
      try {
        // As it is now: somebody may silence the chat while the agent thinks.
        const current = await sessions.get(session.key);
        const may = current !== undefined && (await sendCheck(current, at)).allowed;
        if (may && !ended) await adapter.setTyping?.(at);
      } catch (error) {
        logger.debug({ channel: at.channel, error: messageOf(error) }, "Typing could not be shown");
      }
      if (!ended) cancel = clock.after(REPEAT_MS, start);
    };
    // `show` handles its own failures.
    const start = () => void show();
    start();
    return () => {
      ended = true;
      cancel();
    };
  };
}
