import type { Spoken } from "../delivery/spoken.ts";
import { messageOf } from "../errors.ts";
import type { Clock } from "../ports/host.ts";
import type { AgentRunner, NewEntry, RunOutcome, RunRequest } from "../ports/run.ts";
import { type Ending, endingOf, type Made } from "./ending.ts";

/** An agent that ignores its signal for this long is left behind. */
const ABORT_GRACE_MS = 1000;

/**
 * Executes the host's agent once, with our own end to it: a limit in ms (0 = none) and the signal of the claim.
 * Never rejects. `recorded` are the calls of bound tools, used when the runner reports no rows of its own.
 */
export async function runAgent(
  runner: AgentRunner,
  request: RunRequest,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly clock: Clock },
  recorded: () => readonly NewEntry[],
  hear: (written: string) => Spoken,
): Promise<{ readonly ending: Ending; readonly made: Made }> {
  const { timeoutMs, signal, clock } = limits;
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  let timedOut = false;
  const cancelTimer =
    timeoutMs === 0
      ? () => {}
      : clock.after(timeoutMs, () => {
          timedOut = true;
          controller.abort("timeout");
        });
  const left = abandoned(controller.signal, clock);
  try {
    const outcome = await Promise.race([guarded(runner, request, controller.signal), left.outcome]);
    const ending = endingOf(
      outcome,
      {
        ...(timedOut ? { timeoutError: `timed out after ${timeoutMs / 1000} s` } : {}),
        ...(signal.aborted ? { abort: signal.reason } : {}),
      },
      hear,
    );
    return { ending, made: madeBy(outcome, recorded()) };
  } finally {
    cancelTimer();
    left.forget();
    signal.removeEventListener("abort", onAbort);
  }
}

async function guarded(runner: AgentRunner, request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
  try {
    return await runner.run(request, signal);
  } catch (error) {
    return { status: "error", error: messageOf(error) };
  }
}

/** Settles as aborted when the signal was raised and the grace has passed. */
function abandoned(signal: AbortSignal, clock: Clock) {
  let forget = () => {};
  const outcome = new Promise<RunOutcome>((resolve) => {
    const arm = () => {
      forget = clock.after(ABORT_GRACE_MS, () => resolve({ status: "aborted" }));
    };
    if (signal.aborted) arm();
    else signal.addEventListener("abort", arm, { once: true });
  });
  return { outcome, forget: () => forget() };
}

function madeBy(outcome: RunOutcome, recorded: readonly NewEntry[]): Made {
  return {
    entries: outcome.entries ?? recorded,
    ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
    ...(outcome.model === undefined ? {} : { model: outcome.model }),
  };
}
