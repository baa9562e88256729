import type { Admission } from "../policy/people.ts";
import type { InboundMessage } from "../ports/chat.ts";
import type { CommandRouter } from "../ports/command.ts";
import type { Logger } from "../ports/host.ts";
import type { Origin } from "./origin.ts";
import type { Pairing } from "./pairing.ts";

type Refused = Extract<Admission, { admitted: false }>;

/** Lines at `warn`; who sends more than that is no owner who looks for an id. */
const MOST_LINES = 100;

/**
 * What happens to whoever is not admitted: nothing that the person sees, or anybody could make the bot write; a code where the config says so. The first
 * stranger of a channel is worth a line, and whoever types /whoami: a new owner finds there why there was no answer, and the id to list.
 */
export function createStrangers({
  logger,
  router,
  pairing,
}: {
  readonly logger: Logger;
  readonly router: Pick<CommandRouter, "parse">;
  readonly pairing: Pick<Pairing, "ask">;
}) {
  const written = new Set<string>();

  function note(message: InboundMessage, { reason, mayPair, isShared }: Refused): void {
    const { from, sender } = message;
    const details = { channel: from.channel, id: sender.id, reason };
    const asksForId = router.parse(message, { owner: false })?.name === "whoami";
    const line = JSON.stringify([from.channel, ...(asksForId ? [sender.id] : [])]);
    if (from.chatType !== "direct" || written.has(line) || written.size >= MOST_LINES) {
      logger.debug(details, "A message was not admitted");
      return;
    }
    written.add(line);
    const pair = mayPair === true ? "approve the code with /pair, or " : "";
    const settings =
      isShared === true
        ? `owners.${from.channel}, or give each person a session of their own first (session.dmScope: "per-peer")`
        : `owners.${from.channel} or channels.${from.channel}.allowFrom`;
    logger.warn(
      details,
      `A message was not admitted; to let the person in, ${pair}put the id into ${settings}`,
    );
  }

  return async (message: InboundMessage, origin: Origin, refused: Refused): Promise<void> => {
    note(message, refused);
    if (refused.mayPair === true) await pairing.ask(message, origin);
  };
}
