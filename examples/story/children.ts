import type { ScriptTurn } from "../../src/agents/scripted-agent.ts";
import { AGENTS, lastNonceIn, nonceIn, type Step } from "./names.ts";

/** The concierge sends three subagents of two agents on errands, waits until the last of them has ended, and then says once what came of all. */
export async function errands(turn: ScriptTurn, broken: Step | undefined): Promise<string> {
  const { request, text, call } = turn;
  if (request.trigger === "user") await sendOut(nonceIn(text), call);
  const someAreOut = request.trigger === "user" || text.includes("still at work");
  // Nothing behind this is reached: the turn ends here, and the next one begins with the news of who has come back.
  if (someAreOut && !(broken === "fan-out" && request.trigger !== "user")) await call("sessions_yield");
  return ["My errands:", ...outcomes(`${earlier(request)}\n${text}`)].join("\n");
}

async function sendOut(nonce: string, call: ScriptTurn["call"]): Promise<void> {
  const { discord: ops, whatsapp: field } = AGENTS;
  await call("sessions_spawn", { agentId: ops, label: "notes", task: `Look for ${nonce} in the notes.` });
  await call("sessions_spawn", { agentId: field, label: "depot", task: `Ask the depot for ${nonce}.` });
  await call("sessions_spawn", {
    agentId: field,
    label: "courier",
    task: `Wait for the courier with ${nonce}.`,
    runTimeoutSeconds: 2,
  });
}

/** What the runtime told of each subagent that has ended. */
function outcomes(events: string): readonly string[] {
  const ended = events.matchAll(/A subagent has ended: "(\w+)"\nStatus: (.+)(?:\nResult.*\n> (.+))?/g);
  return [...ended].map(([, label, status, result = ""]) => `${label}: ${status} ${result}`.trim());
}

/** The Discord agent opens a thread and leaves the rest to the subagent in it. */
export async function openThread({ text, call }: ScriptTurn, broken: Step | undefined): Promise<string> {
  const nonce = nonceIn(text);
  const thread = broken !== "thread";
  await call("sessions_spawn", { label: nonce, task: `Look for ${nonce} in the notes.`, thread });
  return `Somebody looks after ${nonce} in a thread of its own.`;
}

/** Ops as a subagent. What it is asked later does not name the nonce again: it knows it from its task. */
export function opsHelper({ request, text }: ScriptTurn): string {
  const nonce = lastNonceIn(`${earlier(request)}\n${text}`);
  return request.trigger === "user" ? `${nonce} is on page 7.` : `${nonce} is in the notes.`;
}

/** Field as a subagent: one errand fails, the other one would never end. */
export async function fieldHelper({ text, signal }: ScriptTurn): Promise<string> {
  if (text.includes("depot")) throw new Error("the depot is closed");
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return "The courier came.";
}

/** Text of what came before, newest last. */
export function earlier({ history }: ScriptTurn["request"]): string {
  return history
    .flatMap(({ content }) => content.flatMap((block) => ("text" in block ? [block.text] : [])))
    .join("\n");
}
