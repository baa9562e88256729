import type { Exchange } from "../../src/core/ports/exchange.ts";
import { openStore, type World } from "./crash-setup.ts";
import { judgeChildren } from "./verdict-children.ts";

export interface RunRow {
  readonly id: string;
  readonly pool: string;
  readonly kind: string;
  readonly payload: string;
  readonly state: string;
  readonly error: string | null;
  readonly result: string | null;
}

/** What is wrong after all the kills, one sentence each; and what happened, for the record. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Compares every id: runs and deliveries in the store, messages in the platforms' recorders, and what the killed processes had said they accepted.
 */
export function judge(world: World, accepted: readonly string[]): Verdict {
  const store = openStore(world.setup);
  const runs = store.prepare("SELECT id, pool, kind, payload, state, error, result FROM runs").all<RunRow>();
  const exchanges = store
    .prepare("SELECT value FROM kv WHERE key LIKE 'exchange/%'")
    .all<{ value: string }>()
    .map((row) => JSON.parse(row.value) as Exchange);
  const children = judgeChildren(store);
  store.close();

  const agentRuns = runs.filter((run) => run.pool === "agents");
  const inbound = agentRuns.filter((run) => run.kind === "agent" && run.id.startsWith("in:"));
  const deliveries = runs.filter((run) => run.kind === "delivery");
  const interrupted = agentRuns.filter((run) => run.error === "interrupted by restart");
  const uncertain = deliveries.filter((run) => resultOf(run).state === "uncertain");
  return {
    faults: [
      ...accepted
        .filter((one) => !inbound.some((run) => run.id.endsWith(idPart(one))))
        .map((one) => `accepted, but not in the store: ${one}`),
      ...runs
        .filter((run) => (run.state === "queued" || run.state === "running") && !run.id.includes("#archive:"))
        .map((run) => `never settled: ${run.id}`),
      ...inbound.flatMap((run) => unanswered(run, deliveries)),
      ...exchanges.filter((one) => one.state === "open").map((one) => `the exchange ${one.id} is still open`),
      ...children.faults,
      ...againstRecorders(world, deliveries, uncertain),
    ],
    counts: {
      accepted: accepted.length,
      inboundRuns: inbound.length,
      agentRuns: agentRuns.length,
      interrupted: interrupted.length,
      exchanges: exchanges.length,
      announced: exchanges.filter((one) => one.state === "announced").length,
      deliveries: deliveries.length,
      uncertain: uncertain.length,
      ...children.counts,
    },
  };
}

/** A person's message ends in exactly one delivery: the reply, or the sentence that there is none. */
function unanswered(run: RunRow, deliveries: readonly RunRow[]): readonly string[] {
  const mine = deliveries.filter((one) => one.id.startsWith(`${run.id}>`));
  // Whoever yields answers when the children have been told.
  if (resultOf(run).status === "yielded") return [];
  if (mine.length !== 1) return [`${run.id} (${run.state}) has ${mine.length} deliveries`];
  const state = resultOf(mine[0]).state;
  return state === "delivered" || state === "uncertain"
    ? []
    : [`${mine[0]?.id} is ${state}: ${mine[0]?.error}`];
}

/** Every message on a platform belongs to one delivery and the other way round; only uncertain ones may be there without an id. */
export function againstRecorders(
  world: World,
  deliveries: readonly RunRow[],
  uncertain: readonly RunRow[],
): readonly string[] {
  const recorded = [
    ...world.discord.sent.map((one) => one.id),
    ...world.telegram.sent.map((one) => `${one.chatId}:${one.messageId}`),
    ...world.whatsapp.sent.map((one) => one.id),
  ];
  const claimed = deliveries.flatMap((run) =>
    (resultOf(run).messageIds ?? []).map((id) =>
      toOf(run).channel === "telegram" ? `${toOf(run).chatId}:${id}` : id,
    ),
  );
  const unclaimed = recorded.filter((id) => !claimed.includes(id));
  return [
    ...claimed
      .filter((id) => !recorded.includes(id))
      .map((id) => `said to be delivered, but nobody got it: ${id}`),
    ...claimed.filter((id, index) => claimed.indexOf(id) !== index).map((id) => `two deliveries claim ${id}`),
    ...recorded.filter((id, index) => recorded.indexOf(id) !== index).map((id) => `recorded twice: ${id}`),
    ...unexplained(unclaimed, uncertain),
  ];
}

/** A message that no delivery claims is one of its own chat's uncertain ones, or a double. Only Telegram has uncertain ones. */
function unexplained(unclaimed: readonly string[], uncertain: readonly RunRow[]): readonly string[] {
  const open = uncertain.map((run) => `${toOf(run).chatId}:`);
  return unclaimed.flatMap((id) => {
    const place = open.findIndex((chat) => id.startsWith(chat));
    if (place < 0) return [`nobody sent this, or it was sent twice: ${id}`];
    open.splice(place, 1);
    return [];
  });
}

function idPart(accepted: string): string {
  const [, , messageId = ""] = accepted.split(" ");
  return `:${encodeURIComponent(messageId)}`;
}

export function resultOf(run: RunRow | undefined): {
  readonly state?: string;
  readonly status?: string;
  readonly messageIds?: readonly string[];
} {
  return run?.result == null ? {} : JSON.parse(run.result);
}

export function toOf(run: RunRow): { readonly channel: string; readonly chatId: string } {
  return JSON.parse(run.payload).to;
}
