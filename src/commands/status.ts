import type { Usage } from "../core/ports/session.ts";
import { displayName } from "../core/session/describe.ts";
import type { Command } from "./command.ts";
import { localized, type Words } from "./words.ts";

/** `/status`: what this chat's session is doing. Figures that nobody reported are left out. */
export const status: Command = {
  spec: { name: "status", description: localized("status.description"), args: [], access: "owner" },
  async run({ call, origin, words }, { sessions, queue, sendCheck }) {
    const session = await sessions.get(origin.key);
    if (session === undefined) return { text: words("status.none") };
    const { usage } = session;
    const model = session.modelOverride ?? session.model;
    const running = (await queue.pending(session.key)).length;
    const may = await sendCheck(session, call.from);
    const effective = words(may.allowed ? "send.effective.on" : "send.effective.off");
    const lines = [
      words("status.session", { name: displayName(session), agent: session.agentId }),
      model === undefined ? "" : words("status.model", { model }),
      tokens(usage, words),
      words("status.runs", { running }),
      words("status.send", { effective, rule: may.rule }),
      session.abortedLastRun === true ? words("status.lastRunAborted") : "",
    ];
    return { text: lines.filter((line) => line !== "").join("\n") };
  },
};

function tokens({ totalTokens, inputTokens, outputTokens }: Usage = {}, words: Words): string {
  if (totalTokens === undefined) return "";
  const total = words("status.tokens", { total: totalTokens });
  if (inputTokens === undefined || outputTokens === undefined) return total;
  return `${total} ${words("status.tokens.split", { input: inputTokens, output: outputTokens })}`;
}
