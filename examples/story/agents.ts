import { type ScriptTurn, scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { AgentRunner } from "../../src/core/ports/run.ts";
import { earlier, errands, fieldHelper, openThread, opsHelper } from "./children.ts";
import { AGENTS, FIELD_GROUP, nonceIn, OPS_ROOM, type Step } from "./names.ts";

/** Three agents that follow a script instead of a model. They know a question's nonce only from what reaches them. `broken` spoils one step. */
export function storyAgents(broken: Step | undefined): Readonly<Record<string, AgentRunner>> {
  return {
    [AGENTS.telegram]: scriptedAgent((turn) => concierge(turn, broken)),
    [AGENTS.discord]: scriptedAgent((turn) => ops(turn, broken)),
    [AGENTS.whatsapp]: scriptedAgent((turn) => field(turn, broken)),
  };
}

async function concierge(turn: ScriptTurn, broken: Step | undefined): Promise<string> {
  const { request, text, call } = turn;
  if (request.trigger === "completion" || text.includes("errands")) return errands(turn, broken);
  if (request.trigger === "reply-back") {
    const said = text.includes("since 09:00") || broken === "talk";
    return said ? "REPLY_SKIP" : `Good. Since when is ${nonceIn(earlier(request) || text)} out?`;
  }
  if (!text.includes("nonce-")) return "Good morning.";
  if (broken === "ask") return `I think ${nonceIn(text)} is out.`;
  const message = `Is ${nonceIn(text)} deployed?`;
  const answer = await call("sessions_send", { label: OPS_ROOM, message, timeoutSeconds: 20 });
  return typeof answer.reply === "string"
    ? `Ops say: ${answer.reply}`
    : `Ops did not answer: ${answer.error}`;
}

async function ops(turn: ScriptTurn, broken: Step | undefined): Promise<string> {
  const { request, text, call } = turn;
  if (request.depth > 0) return opsHelper(turn);
  if (text.includes("open a thread")) return openThread(turn, broken);
  const nonce = broken === "echo" ? "something" : nonceIn(text);
  switch (request.trigger) {
    case "send":
      return `Yes, ${nonce} is deployed.`;
    case "reply-back":
      return text.includes("Since when") ? `${nonce} is out since 09:00.` : "REPLY_SKIP";
    case "announce":
      return announce(nonceIn(request.extraSystemPrompt ?? ""), call, broken);
    default:
      return "Good morning from ops.";
  }
}

async function announce(nonce: string, call: ScriptTurn["call"], broken: Step | undefined): Promise<string> {
  if (broken !== "relay") {
    const message = `Please tell the team: ${nonce} is deployed.`;
    await call("sessions_send", { label: FIELD_GROUP, message, timeoutSeconds: 0 });
  }
  return broken === "announce"
    ? "ANNOUNCE_SKIP"
    : `**Deployed:** ${nonce}, since 09:00. The concierge asked.`;
}

async function field(turn: ScriptTurn, broken: Step | undefined): Promise<string> {
  const { request, text } = turn;
  if (request.depth > 0) return fieldHelper(turn);
  switch (request.trigger) {
    case "send":
      return `Will do: ${nonceIn(text)}.`;
    case "announce":
      return broken === "field"
        ? "ANNOUNCE_SKIP"
        : `Team: *${nonceIn(request.extraSystemPrompt ?? "")}* is deployed.`;
    default:
      return "Good morning from the field.";
  }
}
