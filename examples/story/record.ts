import type { Exchange } from "../../src/core/ports/exchange.ts";
import type { TranscriptEntry } from "../../src/core/ports/run.ts";
import type { Stage } from "./stage.ts";

/** A row of a session, as the store has it. */
export interface Row {
  readonly role: TranscriptEntry["role"];
  readonly text: string;
  readonly runId: string;
  readonly source: string | undefined;
  readonly tool: string | undefined;
  readonly arguments: string;
}

/** What a bot has said in a chat, as the platform recorded it. */
export function said(stage: Stage): {
  readonly telegram: string[];
  readonly discord: string[];
  readonly whatsapp: string[];
} {
  return {
    telegram: stage.telegram.sent.map((message) => message.text),
    discord: stage.discord.sent
      .filter((one) => one.channelId === stage.discord.general.id)
      .map((one) => one.content),
    whatsapp: stage.whatsapp.sent.filter((one) => one.to === stage.group.jid).map((one) => one.text ?? ""),
  };
}

/** Everything that was said in a session, tool calls included, read back through the gateway. */
export async function transcript(stage: Stage, sessionKey: string): Promise<readonly Row[]> {
  const { messages } = await stage.board.gateway.call("chat.history", { sessionKey, includeTools: true });
  // chat.history returns rows in transcript format.
  return (messages as readonly TranscriptEntry[]).map((entry) => {
    const call = entry.content.find((block) => block.type === "toolCall");
    return {
      role: entry.role,
      text: entry.content.flatMap((block) => ("text" in block ? [block.text] : [])).join("\n"),
      runId: entry.runId ?? "",
      source: entry.provenance?.kind === "inter_session" ? entry.provenance.sourceSessionKey : undefined,
      tool: call?.name,
      arguments: call === undefined ? "" : JSON.stringify(call.arguments),
    };
  });
}

/** The exchange that a sessions_send began, once its first run has settled. */
export async function exchangeOf(stage: Stage, runId: string): Promise<Exchange | undefined> {
  const answer = await stage.board.gateway.call("agent.wait", { runId, timeoutSeconds: 10 });
  // agent.wait carries the record of the exchange as it is stored.
  return answer.exchange as Exchange | undefined;
}
