import type { SendOverride, Session } from "../core/ports/session.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { localized, type Words } from "./words.ts";

const MEANING: Readonly<Record<string, SendOverride | "inherit">> = {
  on: "allow",
  allow: "allow",
  off: "deny",
  deny: "deny",
  inherit: "inherit",
  default: "inherit",
  reset: "inherit",
};

/** `/send on|off|inherit`: whether anything may leave this chat's session. Without an argument: what holds, and why. */
export const send: Command = {
  spec: {
    name: "send",
    description: localized("send.description"),
    args: [
      {
        name: "mode",
        description: localized("send.argument"),
        required: false,
        choices: ["on", "off", "inherit"],
      },
    ],
    access: "owner",
  },
  async run(use, parts) {
    const meaning = MEANING[use.args[0] ?? ""];
    if (meaning === undefined) return { text: await current(use, parts), evenIfDenied: true };
    await override(use, parts, meaning);
    return { text: await confirmation(use, parts, meaning), evenIfDenied: true };
  },
};

/** The owner's word makes the session if this chat has none yet. */
async function override(
  { call, origin }: CommandUse,
  { sessions, storage }: CommandParts,
  to: SendOverride | "inherit",
) {
  if ((await sessions.get(origin.key)) === undefined)
    await storage.apply([sessions.arrival(origin, call, "speaker")]);
  await sessions.change(
    origin.key,
    ({ sendPolicy: _before, ...session }): Session =>
      to === "inherit" ? session : { ...session, sendPolicy: to },
  );
}

async function confirmation(
  use: CommandUse,
  parts: CommandParts,
  meaning: SendOverride | "inherit",
): Promise<string> {
  if (meaning === "allow") return use.words("send.on");
  if (meaning === "deny") return use.words("send.off");
  const decision = await decisionFor(use, parts);
  return use.words("send.inherit", { effective: effective(decision?.allowed ?? true, use.words) });
}

async function current(use: CommandUse, parts: CommandParts): Promise<string> {
  const decision = await decisionFor(use, parts);
  const usage = use.words("usage.line", { usage: use.usage });
  if (decision === undefined) return usage;
  const state = { effective: effective(decision.allowed, use.words), rule: decision.rule };
  return `${use.words("send.current", state)}\n${usage}`;
}

async function decisionFor({ origin, call }: CommandUse, { sessions, sendCheck }: CommandParts) {
  const session = await sessions.get(origin.key);
  return session === undefined ? undefined : sendCheck(session, call.from);
}

function effective(allowed: boolean, words: Words): string {
  return words(allowed ? "send.effective.on" : "send.effective.off");
}
