import { withheldLately } from "../core/delivery/withheld.ts";
import type { Choice } from "../core/ports/command.ts";
import type { SendOverride, Session } from "../core/ports/session.ts";
import { newSession } from "../core/session/arrival.ts";
import { patched } from "../core/session/patch.ts";
import { duration } from "../core/text/duration.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { localized, type Words } from "./words.ts";

const MEANING: Readonly<Record<string, SendOverride | "inherit">> = {
  on: "allow",
  off: "deny",
  inherit: "inherit",
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
    const [word = ""] = use.args;
    const meaning = Object.hasOwn(MEANING, word) ? MEANING[word] : undefined;
    if (meaning === undefined) {
      return { text: await current(use, parts), choices: choices(use.words), evenIfDenied: true };
    }
    await override(use, parts, meaning);
    return { text: await confirmation(use, parts, meaning), evenIfDenied: true };
  },
};

/** The owner's word makes the session if this chat has none yet. */
async function override(
  { call, origin }: CommandUse,
  { sessions, storage, clock }: CommandParts,
  to: SendOverride | "inherit",
) {
  if ((await sessions.get(origin.key)) === undefined)
    await storage.apply([sessions.arrival(origin, call, "speaker")]);
  const sendPolicy = to === "inherit" ? null : to;
  await sessions.change(origin.key, (session) => patched(session, { sendPolicy }, clock.now()));
}

async function confirmation(
  use: CommandUse,
  parts: CommandParts,
  meaning: SendOverride | "inherit",
): Promise<string> {
  if (meaning === "allow") return use.words("send.on");
  if (meaning === "deny") return use.words("send.off");
  const { allowed } = await decisionFor(use, parts);
  return use.words("send.inherit", { effective: effective(allowed, use.words) });
}

async function current(use: CommandUse, parts: CommandParts): Promise<string> {
  const { words, origin, howTo } = use;
  const { allowed, rule } = await decisionFor(use, parts);
  const session = allowed ? undefined : await parts.sessions.get(origin.key);
  return [
    words("send.current", { effective: effective(allowed, words), rule }),
    ...withheldLine(session, parts.clock.now(), words),
    howTo,
  ].join("\n");
}

/** What the silence has kept from leaving. */
export function withheldLine(session: Session | undefined, nowMs: number, words: Words): readonly string[] {
  const withheld = session && withheldLately(session, nowMs);
  if (withheld === undefined) return [];
  const { count, sinceMs } = withheld;
  return [words("send.withheld", { count, age: duration(nowMs - sinceMs) })];
}

/** In a chat that has no session yet the policy decides by the chat alone. */
async function decisionFor({ origin, call }: CommandUse, { sessions, sendCheck, clock }: CommandParts) {
  const { key, agentId } = origin;
  const toBe = newSession({ key, agentId, nowMs: clock.now(), newSessionId: "" });
  return sendCheck((await sessions.get(key)) ?? toBe, call.from);
}

function choices(words: Words): readonly Choice[] {
  return [
    { label: words("send.tap.on"), command: "/send on" },
    { label: words("send.tap.off"), command: "/send off" },
    { label: words("send.tap.inherit"), command: "/send inherit" },
  ];
}

function effective(allowed: boolean, words: Words): string {
  return words(allowed ? "send.effective.on" : "send.effective.off");
}
