import type { RemovedTool } from "../core/policy/tools.ts";
import { newSession } from "../core/session/arrival.ts";
import type { Command } from "./command.ts";
import { localized } from "./words.ts";

/** `/tools`: the session tools that this chat's session has, and for each of the others the setting that takes it away. */
export const tools: Command = {
  spec: { name: "tools", description: localized("tools.description"), args: [], access: "owner" },
  async run({ call, origin, words }, { sessions, toolCheck, clock }) {
    const { key, agentId } = origin;
    // Before its first message a chat has the tools that it will begin with.
    const toBe = newSession({ key, agentId, nowMs: clock.now(), newSessionId: "" });
    const { allowed, removed } = await toolCheck((await sessions.get(key)) ?? toBe, { place: call.from });
    const lines = [
      allowed.length === 0 ? words("tools.none") : words("tools.here", { tools: quoted(allowed) }),
      ...(removed.length === 0 ? [] : [words("tools.removed"), ...removals(removed)]),
    ];
    return { text: lines.join("\n") };
  },
};

/** One line for each setting: most of them take several tools away. */
function removals(removed: readonly RemovedTool[]): readonly string[] {
  const settings = [...new Set(removed.map(({ setting }) => setting))];
  return settings.map((setting) => {
    const names = removed.filter((one) => one.setting === setting).map(({ name }) => name);
    return `- ${quoted(names)}: ${quoted([setting])}`;
  });
}

/** Names as they are written in the config. Nothing in them ends the code that they are shown as. */
function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name.replaceAll("`", "'")}\``).join(", ");
}
