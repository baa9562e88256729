import { EventEmitter, once } from "node:events";
import type { ModelStep, ToolCall } from "../contracts/agent-runner.contract.ts";

export interface SteppedModel {
  /** The next step; rejects when the model fails, or hangs until the signal is raised. */
  ask(signal: AbortSignal): Promise<{ readonly says: string; readonly calls: readonly ToolCall[] }>;
  calls(): number;
  asked(count: number): Promise<void>;
}

/** A model in memory that does one step each time it is asked. */
export function steppedModel(steps: readonly ModelStep[]): SteppedModel {
  const changes = new EventEmitter();
  let calls = 0;
  return {
    calls: () => calls,
    async asked(count) {
      while (calls < count) await once(changes, "asked");
    },
    async ask(signal) {
      const step = steps[calls];
      calls += 1;
      changes.emit("asked");
      if (step === undefined) throw new Error("The script has no further step.");
      if (step === "hangs") return hang(signal);
      if ("fails" in step) throw new Error(step.fails);
      return { says: step.says, calls: step.calls ?? [] };
    },
  };
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
