/** Agents of the story, by the platform that they live on. */
export const AGENTS = { telegram: "concierge", discord: "ops", whatsapp: "field" } as const;

export const OPS_ROOM = "ops-room";
export const FIELD_GROUP = "field-team";

/** The concierge's errands, and how each of them ends. */
export const ERRANDS = { notes: "success", depot: "error", courier: "timeout" } as const;

/** What `--break` can spoil; the story must then end with exit code 1 and say which step did not happen. */
export const STEPS = [
  "ask",
  "echo",
  "talk",
  "announce",
  "relay",
  "field",
  "thread",
  "fan-out",
  "silence",
] as const;
export type Step = (typeof STEPS)[number];

/** The word of a question that every answer must give back, so that nothing can be told by heart. */
export function nonceIn(text: string): string {
  return /nonce-[a-z0-9]+/.exec(text)?.[0] ?? "no nonce";
}

/** The same, newest first. */
export function lastNonceIn(text: string): string {
  return text.match(/nonce-[a-z0-9]+/g)?.at(-1) ?? "no nonce";
}
