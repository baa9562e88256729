import type { Child } from "../ports/child.ts";
import type { Usage } from "../ports/session.ts";
import { duration } from "../text/duration.ts";

export type StatsLevel = "full" | "short" | "off";

/** What only those may read who may read files and keys of the bot. */
export interface Whereabouts {
  readonly sessionKey: string;
  readonly sessionId?: string;
  readonly transcriptPath?: string;
}

/** `Stats: runtime 5m12s • tokens 12.3k (in 10.0k / out 2.3k) • …`, "" when off. */
export function statsLine(child: Child, level: StatsLevel, where?: Whereabouts): string {
  if (level === "off") return "";
  const { usage } = child;
  const cost = level === "full" ? usage?.estimatedCostUsd : undefined;
  const details = level === "full" ? where : undefined;
  return `Stats: ${[
    `runtime ${runtimeOf(child)}`,
    tokensOf(usage),
    cost === undefined ? "" : `est $${cost.toFixed(cost >= 0.01 ? 2 : 4)}`,
    details === undefined ? "" : `sessionKey ${details.sessionKey}`,
    details?.sessionId === undefined ? "" : `sessionId ${details.sessionId}`,
    details?.transcriptPath === undefined ? "" : `transcript ${details.transcriptPath}`,
  ]
    .filter((part) => part !== "")
    .join(" • ")}`;
}

/** A text with stats lines as those may read it who may not know where transcripts lie. */
export function withoutTranscript(text: string): string {
  return text.replace(/^(Stats: .*) • transcript .*$/gm, "$1");
}

/** The counters of two runs together; what neither reported stays absent. */
export function summed(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const names = ["inputTokens", "outputTokens", "cacheRead", "cacheWrite", "estimatedCostUsd"] as const;
  const sums = names.flatMap((name) => {
    const [a, b] = [one[name], other[name]];
    return a === undefined && b === undefined ? [] : [[name, (a ?? 0) + (b ?? 0)] as const];
  });
  const both = { ...one, ...other, ...Object.fromEntries(sums) };
  if (both.totalTokens === undefined) return both;
  // One run may have told a total, and another only what makes it.
  return { ...both, totalTokens: (totalOf(one) ?? 0) + (totalOf(other) ?? 0) };
}

function runtimeOf({ startedAtMs, endedAtMs }: Child): string {
  return startedAtMs === undefined || endedAtMs === undefined ? "n/a" : duration(endedAtMs - startedAtMs);
}

function tokensOf(usage: Usage = {}): string {
  const total = totalOf(usage);
  if (total === undefined) return "tokens n/a";
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return `tokens ${short(total)}`;
  return `tokens ${short(total)} (in ${short(inputTokens)} / out ${short(outputTokens)})`;
}

function totalOf({ totalTokens, inputTokens, outputTokens }: Usage): number | undefined {
  if (totalTokens !== undefined || inputTokens === undefined || outputTokens === undefined)
    return totalTokens;
  return inputTokens + outputTokens;
}

function short(count: number): string {
  if (count >= 999_950) return `${(count / 1_000_000).toFixed(1)}m`;
  return count >= 1000 ? `${(count / 1000).toFixed(1)}k` : String(count);
}
