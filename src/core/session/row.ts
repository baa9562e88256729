import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Row } from "../ports/storage.ts";
import type { Redactor } from "../transcript/redact.ts";
import { channelOf, displayKey, shownName } from "./describe.ts";
import { type KeyNames, parentKey } from "./key.ts";

/** Who looks at a row. */
export interface Viewer {
  readonly agentId: string;
  readonly names: KeyNames;
  /** Neither sandboxed nor a subagent: may learn where the transcript mirror lies. */
  readonly trusted: boolean;
  transcriptPath(sessionId: string): string | undefined;
  /** What people and agents named may hold a secret. */
  readonly redactor: Pick<Redactor, "redact" | "size">;
}

/** What is true of a session at this moment and not stored with it. */
export interface RowNow {
  readonly running: boolean;
  /** Those of its children that the viewer may see. */
  readonly children: readonly SessionKey[];
}

/** A row as tools and the gateway show it. Unknown values are absent. Times are Unix ms. */
export type PublicRow = Readonly<Record<string, unknown>>;

export function publicRow({ session, kind }: Row, viewer: Viewer, now: RowNow): PublicRow {
  const { route, origin, usage } = session;
  // What is stored of the last run says nothing of the one that is under way.
  const lastRun: Pick<Session, "startedAtMs" | "endedAtMs"> = now.running ? {} : session;
  const shown = (key: SessionKey | undefined) =>
    key === undefined ? undefined : displayKey(key, viewer.agentId, viewer.names);
  const path = viewer.trusted ? viewer.transcriptPath(session.sessionId) : undefined;
  return given({
    key: shown(session.key),
    agentId: session.agentId,
    kind,
    channel: channelOf(session),
    ...namesOf(session, viewer.redactor),
    updatedAt: session.updatedAtMs,
    sessionId: session.sessionId,
    contextTokens: usage?.contextTokens,
    totalTokens: usage?.totalTokens,
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    cacheRead: usage?.cacheRead,
    cacheWrite: usage?.cacheWrite,
    estimatedCostUsd: usage?.estimatedCostUsd,
    systemSent: session.systemSent,
    abortedLastRun: session.abortedLastRun,
    sendPolicy: session.sendPolicy,
    lastChannel: route?.channel,
    lastTo: route?.chatId,
    lastAccountId: route?.accountId,
    deliveryContext: route === undefined ? undefined : place(route),
    origin: origin === undefined ? undefined : place(origin),
    spawnedBy: shown(session.spawnedBy),
    parentSessionKey: shown(parentKey(session.key)),
    childSessions: now.children.length === 0 ? undefined : now.children.map(shown),
    status: now.running ? "running" : session.status,
    startedAt: lastRun.startedAtMs,
    endedAt: lastRun.endedAtMs,
    runtimeMs: runtimeMs(lastRun.startedAtMs, lastRun.endedAtMs),
    archived: session.archivedAtMs !== undefined,
    archivedAt: session.archivedAtMs,
    pinned: session.pinnedAtMs !== undefined,
    pinnedAt: session.pinnedAtMs,
    transcriptPath: path,
  });
}

/** Free words of people and agents, no ids. */
function namesOf(session: Session, redactor: Viewer["redactor"]) {
  let redacted = false;
  const mask = (text: string) => {
    const masked = redactor.redact(text);
    redacted ||= masked.redacted;
    return masked.text;
  };
  const { label, model, modelOverride, thinkingLevel, verboseLevel } = session;
  const words = given({ label, model, modelOverride, thinkingLevel, verboseLevel });
  return {
    displayName: shownName(session, mask),
    ...Object.fromEntries(Object.entries(words).map(([name, text]) => [name, mask(text)])),
    ...(redacted ? { contentRedacted: true } : {}),
  };
}

/** `{ channel, to, accountId, threadId }`, the public form of an address. */
export function place({ channel, chatId, accountId, threadId }: Address) {
  return { channel, to: chatId, accountId, ...(threadId === undefined ? {} : { threadId }) };
}

function runtimeMs(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : to - from;
}
