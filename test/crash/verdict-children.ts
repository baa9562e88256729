import type { Child, Family } from "../../src/core/ports/child.ts";
import type { TranscriptEntry } from "../../src/core/ports/run.ts";
import { textOf } from "../../src/core/transcript/prompt.ts";
import type { openStore } from "./crash-setup.ts";
import type { Verdict } from "./verdict.ts";

/** Of every child: an end, a requester that was told exactly once, at most one post, and no place that is still taken. */
export function judgeChildren(store: ReturnType<typeof openStore>): Verdict {
  const values = <T>(prefix: string): readonly T[] =>
    store
      .prepare("SELECT value FROM kv WHERE key LIKE ?")
      .all<{ value: string }>(`${prefix}/%`)
      .map(({ value }) => JSON.parse(value));
  const children = values<Child>("child");
  const families = values<Family>("family");
  const events = values<{ readonly entries: readonly TranscriptEntry[] }>("turn")
    .flatMap(({ entries }) => entries)
    .filter(
      ({ provenance }) =>
        provenance?.kind === "internal_system" && provenance.sourceTool === "sessions_spawn",
    )
    .map(textOf);
  const posts = store
    .prepare("SELECT id FROM runs WHERE kind = 'delivery' AND id LIKE 'spawn:%'")
    .all<{ id: string }>()
    .map(({ id }) => id);
  const of = (status: string) => children.filter(({ outcome }) => outcome?.status === status).length;
  return {
    faults: [
      ...children.flatMap((child) => faultsOf(child, events)),
      ...families.flatMap(({ open }) => open.map(({ id }) => `a place is still taken: ${id}`)),
      ...children
        .filter(({ post }) => post?.deliveryId !== undefined && !posts.includes(post.deliveryId))
        .map(({ id }) => `said to be posted, without a delivery: ${id}`),
    ],
    counts: {
      children: children.length,
      childrenOk: of("ok"),
      childrenFailed: of("error"),
      childrenTimedOut: of("timeout"),
      childPosts: posts.length,
    },
  };
}

function faultsOf({ id, key, outcome, told, post }: Child, events: readonly string[]): readonly string[] {
  const tellings = events.filter(
    (text) => text.includes(`sessionKey ${key} `) || text.includes(`sessionKey ${key}\n`),
  );
  return [
    ...(outcome === undefined ? [`the child ${id} has no end`] : []),
    ...(told === undefined ? [`the end of child ${id} was not told`] : []),
    ...(post?.state === "pending" ? [`the post of child ${id} is still pending`] : []),
    ...(tellings.length === 1 ? [] : [`the end of child ${id} was told ${tellings.length} times`]),
  ];
}
