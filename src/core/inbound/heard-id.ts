import type { ChannelAdapter, InboundMessage } from "../ports/chat.ts";
import { inboundRunId, sharedRunId } from "../runs/run-id.ts";

/** Whether more accounts of this installation may hear the message, under the same id. */
export type IsShared = (message: Pick<InboundMessage, "from">) => boolean;

export function createIsShared(adapters: readonly ChannelAdapter[]): IsShared {
  return ({ from }) => {
    const ofPlatform = adapters.filter(({ channel }) => channel === from.channel);
    const heardBy = ofPlatform.find(({ accountId }) => accountId === from.accountId);
    return ofPlatform.length > 1 && heardBy?.sharesIds?.(from) === true;
  };
}

/** The id of the run that a message is for an agent. */
export function heardId(
  { from, id }: Pick<InboundMessage, "from" | "id">,
  agentId: string,
  isShared: boolean,
) {
  return isShared ? sharedRunId(from, id, agentId) : inboundRunId(from, id);
}
