import type { Children } from "../children/children.ts";
import { given } from "../given.ts";
import { type Flow, NOTHING } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
import type { Exchanges } from "./exchange.ts";

/** The flow that a run is a step of; most runs are none. */
export function createFlow(exchanges: Exchanges, children: Children): Flow {
  const plain: Flow = {
    async begin(job, { kind }) {
      if (kind === "note") return { take: "row", prompt: job, ...NOTHING };
      const { text, provenance } = job;
      const extraSystemPrompt = await children.rulesIn(job.sessionKey);
      return { take: "turn", prompt: given({ text, provenance, extraSystemPrompt }) };
    },
    after: async () => NOTHING,
  };
  const flowOf = (job: Job): Flow => {
    if (job.child !== undefined) return children;
    return job.exchangeId === undefined ? plain : exchanges;
  };
  return {
    begin: (job, run) => flowOf(job).begin(job, run),
    after: (job, ended) => flowOf(job).after(job, ended),
  };
}
