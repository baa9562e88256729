import { z } from "zod";
import { SwitchboardError } from "../errors.ts";
import type { Session } from "../ports/session.ts";
import { cleanLabel } from "./describe.ts";

const text = z.string().trim().min(1).max(200).nullable().optional();

/** What may be changed from outside. null clears a field; a field that is not named stays. */
export const sessionPatch = z.strictObject({
  label: z.string().nullable().optional(),
  sendPolicy: z.enum(["allow", "deny"]).nullable().optional(),
  model: text,
  thinkingLevel: text,
  verboseLevel: text,
  archived: z.boolean().nullable().optional(),
  pinned: z.boolean().nullable().optional(),
});

export type SessionPatch = z.output<typeof sessionPatch>;

/** LABEL_INVALID for a label that cannot be one; everything else was checked by the schema. */
export function patched(session: Session, patch: SessionPatch, nowMs: number): Session {
  const next: { -readonly [K in keyof Session]: Session[K] } = { ...session };
  assign(
    next,
    "label",
    patch.label === undefined || patch.label === null ? patch.label : labelOf(patch.label),
  );
  assign(next, "sendPolicy", patch.sendPolicy);
  // The silence is over, as far as somebody can say so.
  if (patch.sendPolicy === "allow" || patch.sendPolicy === null) delete next.withheld;
  assign(next, "modelOverride", patch.model);
  assign(next, "thinkingLevel", patch.thinkingLevel);
  assign(next, "verboseLevel", patch.verboseLevel);
  assign(next, "archivedAtMs", sinceWhen(patch.archived, session.archivedAtMs, nowMs));
  assign(next, "pinnedAtMs", sinceWhen(patch.pinned, session.pinnedAtMs, nowMs));
  return next;
}

function assign<K extends keyof Session>(
  session: { -readonly [N in keyof Session]: Session[N] },
  name: K,
  value: Session[K] | null | undefined,
): void {
  if (value === undefined) return;
  if (value === null) delete session[name];
  else session[name] = value;
}

function sinceWhen(flag: boolean | null | undefined, since: number | undefined, nowMs: number) {
  if (flag === undefined) return undefined;
  return flag === true ? (since ?? nowMs) : null;
}

/** As it is stored. LABEL_INVALID when it cannot be one. */
export function labelOf(written: string): string {
  const cleaned = cleanLabel(written);
  if (cleaned.ok) return cleaned.label;
  throw new SwitchboardError("LABEL_INVALID", cleaned.reason);
}
