import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import type { CommandReply, CommandRouter, NativeCommandCall } from "../ports/command.ts";
import type { ClaimedRun, NewRun, RunSettlement } from "../ports/engine.ts";
import type { Clock, Json } from "../ports/host.ts";
import type { SessionKey } from "../ports/session.ts";
import { deliveryId, joined } from "../runs/run-id.ts";
import type { FindOrigin } from "./origin.ts";

/** Commands have their own pool: `/send off` must not wait behind busy agents. */
export const COMMAND_POOL = "commands";

/** A typed command as a run: accepted once however often the platform hands it over, in order within its chat, durable. */
export function commandRun(call: NativeCommandCall, id: string): NewRun {
  const { channel, accountId, chatId } = call.from;
  return {
    id,
    lane: joined(COMMAND_POOL, [channel, accountId, chatId]),
    pool: COMMAND_POOL,
    kind: "command",
    // Calls are plain data; Json cannot express the optional members of a named type.
    payload: call as unknown as Json,
  };
}

/** Handler of the commands' pool. A command that a crash cut off runs again: all of them may. */
export function createCommandHandler(parts: {
  readonly router: CommandRouter;
  readonly findOrigin: FindOrigin;
  readonly clock: Clock;
}): (run: ClaimedRun) => Promise<RunSettlement> {
  return async (run) => {
    // Written by commandRun only.
    const call = run.payload as unknown as NativeCommandCall;
    const reply = await parts.router.run(call, "typed");
    if (reply === undefined) return { done: null };
    const { key } = await parts.findOrigin(call);
    return { done: null, effects: [replyRun(run.id, key, call, reply, parts.clock.now())] };
  };
}

function replyRun(
  runId: string,
  key: SessionKey,
  call: NativeCommandCall,
  reply: CommandReply,
  createdAtMs: number,
): NewRun {
  return deliveryRun(deliveryId(runId, "reply"), {
    sessionKey: key,
    to: call.from,
    markdown: reply.text,
    kind: "command",
    replyToId: call.id,
    createdAtMs,
    ...given({ choices: reply.choices, evenIfDenied: reply.evenIfDenied }),
  });
}
