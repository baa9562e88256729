import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import type { CommandAttempt, CommandReply, CommandRouter, NativeCommandCall } from "../ports/command.ts";
import type { ClaimedRun, NewRun, RunQueue, RunSettlement } from "../ports/engine.ts";
import type { Clock, Json } from "../ports/host.ts";
import type { SessionKey } from "../ports/session.ts";
import { deliveryId, joined } from "../runs/run-id.ts";
import type { FindOrigin } from "./origin.ts";

/** Commands have their own pool: `/send off` must not wait behind busy agents. */
export const COMMAND_POOL = "commands";

/** A command that is begun later than this was kept waiting: much may have happened since it was typed. */
const LATE_MS = 5000;

/** Payload of a command's run. `remembered`: see CommandAttempt. */
interface CommandJob extends NativeCommandCall {
  readonly remembered?: Json;
}

/** A typed command as a run: accepted once however often the platform hands it over, in order within its chat, durable. */
export function commandRun(call: NativeCommandCall, id: string): NewRun {
  const { channel, accountId, chatId } = call.from;
  return {
    id,
    lane: joined(COMMAND_POOL, [channel, accountId, chatId]),
    pool: COMMAND_POOL,
    kind: "command",
    payload: toPayload(call),
  };
}

interface HandlerParts {
  readonly router: CommandRouter;
  readonly findOrigin: FindOrigin;
  readonly queue: Pick<RunQueue, "get">;
  readonly clock: Clock;
}

/** Handler of the commands' pool. A command that a crash cut off runs again: all of them may, see CommandAttempt. */
export function createCommandHandler(parts: HandlerParts): (run: ClaimedRun) => Promise<RunSettlement> {
  return async (run) => {
    const { remembered: _found, ...call } = toJob(run.payload);
    const reply = await parts.router.run(call, "typed", await attemptAt(run, parts));
    if (reply === undefined) return { done: null };
    const { key } = await parts.findOrigin(call);
    return { done: null, effects: [replyRun(run.id, key, call, reply, parts.clock.now())] };
  };
}

async function attemptAt(run: ClaimedRun, { queue, clock }: HandlerParts): Promise<CommandAttempt> {
  // The claim's payload is older when this attempt is a second one of the same claim.
  const record = await queue.get(run.id);
  const job = toJob(record?.payload ?? run.payload);
  const acceptedAtMs = record?.enqueuedAtMs ?? clock.now();
  const isLate = run.interrupted || clock.now() - acceptedAtMs > LATE_MS;
  return {
    runId: run.id,
    // A clock that was set back makes what is old look young, so it is asked only where it has to be.
    wasThere: (atMs) => !isLate || atMs <= acceptedAtMs,
    async remembered<T extends object>(look: () => Promise<T>): Promise<T> {
      // Written below only, by the same command.
      if (job.remembered !== undefined) return job.remembered as unknown as T;
      const found = await look();
      await run.checkpoint(toPayload({ ...job, remembered: found as unknown as Json }));
      return found;
    },
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

// Calls are plain data; Json cannot express the optional members of a named type.
function toPayload(job: CommandJob): Json {
  return job as unknown as Json;
}

// Payloads of this pool are written by `toPayload` only.
function toJob(payload: Json): CommandJob {
  return payload as unknown as CommandJob;
}
