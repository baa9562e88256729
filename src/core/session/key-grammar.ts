import { decodeId, disguise, encodeId, encodeVerbatim } from "./opaque-id.ts";

/** What stands behind `agent:<id>:`. Ids are decoded and opaque; channels and accounts are lower case. */
export type AgentKey =
  | { readonly family: "main"; readonly threadId?: string }
  | {
      readonly family: "direct";
      readonly channel?: string;
      /** Only with a channel. */
      readonly accountId?: string;
      readonly peerId: string;
      readonly threadId?: string;
    }
  | {
      readonly family: "group";
      readonly channel: string;
      readonly chatId: string;
      readonly topicId?: string;
      readonly threadId?: string;
    }
  | {
      readonly family: "channel";
      readonly channel: string;
      readonly chatId: string;
      readonly threadId?: string;
    }
  | { readonly family: "slash"; readonly channel: string; readonly userId: string }
  | { readonly family: "cron"; readonly jobId: string; readonly runId?: string }
  | { readonly family: "hook"; readonly hookId: string }
  | { readonly family: "node"; readonly nodeId: string }
  /** Ids from the outermost child inwards; keys that we make have one. */
  | { readonly family: "subagent"; readonly path: readonly string[] }
  | { readonly family: "acp"; readonly harnessId: string }
  /** Anything else, as written: a main key with a name of its own, or a key that a host chose. */
  | { readonly family: "other"; readonly rest: string; readonly threadId?: string };

type Parts = readonly string[];

/** First words with a meaning of their own; a channel of such a name is disguised. */
const reserved = new Set(["main", "direct", "dm", "cron", "hook", "node", "acp", "subagent"]);

/** Total: parts that fit no family are "other". No part may be empty. */
export function parseAgentKey(parts: Parts): AgentKey {
  const [first = "", ...tail] = parts;
  const known = isReserved(first) ? parseReserved(first, tail) : parseChat(fold(decodeId(first)), tail);
  return known ?? parseOther(parts);
}

/** The inverse of parseAgentKey. */
export function formatAgentKey(key: AgentKey): string {
  switch (key.family) {
    case "main":
      return `main${suffix("thread", key.threadId)}`;
    case "direct":
      return `${directPrefix(key)}direct:${encodeId(key.peerId)}${suffix("thread", key.threadId)}`;
    case "group": {
      const inner = suffix("topic", key.topicId) + suffix("thread", key.threadId);
      return `${encodeChannel(key.channel)}:group:${encodeId(key.chatId)}${inner}`;
    }
    case "channel":
      return `${encodeChannel(key.channel)}:channel:${encodeId(key.chatId)}${suffix("thread", key.threadId)}`;
    case "slash":
      return `${encodeChannel(key.channel)}:slash:${encodeId(key.userId)}`;
    case "cron":
      return `cron:${encodeId(key.jobId)}${suffix("run", key.runId)}`;
    case "hook":
      return `hook:${encodeId(key.hookId)}`;
    case "node":
      return `node-${encodeId(key.nodeId)}`;
    case "subagent":
      return key.path.map((id) => `subagent:${encodeId(id)}`).join(":");
    case "acp":
      return `acp:${encodeId(key.harnessId)}`;
    case "other":
      return encodeVerbatim(key.rest) + suffix("thread", key.threadId);
    default:
      return key satisfies never;
  }
}

/** Structural words are compared and stored in lower case. */
export function fold(word: string): string {
  return word.toLowerCase();
}

function parseReserved(first: string, tail: Parts): AgentKey | undefined {
  const word = fold(first);
  if (word.startsWith("node-")) return parseNode([first.slice("node-".length), ...tail]);
  switch (word) {
    case "main": {
      const thread = threadOf(tail);
      return thread && { family: "main", ...thread };
    }
    case "direct":
    case "dm":
      return parsePeer(tail);
    case "cron":
      return parseCron(tail);
    case "hook":
      return tail.length === 0 ? undefined : { family: "hook", hookId: joinIds(tail) };
    case "node":
      return parseNode(tail);
    case "acp":
      return tail.length === 0 ? undefined : { family: "acp", harnessId: joinIds(tail) };
    default:
      return parseSubagent(tail);
  }
}

function parseNode([id = "", ...more]: Parts): AgentKey | undefined {
  return id === "" ? undefined : { family: "node", nodeId: joinIds([id, ...more]) };
}

function parseCron(tail: Parts): AgentKey | undefined {
  const [jobId, word = "", runId] = tail;
  if (jobId === undefined) return undefined;
  if (runId !== undefined && tail.length === 3 && fold(word) === "run") {
    return { family: "cron", jobId: decodeId(jobId), runId: decodeId(runId) };
  }
  return { family: "cron", jobId: joinIds(tail) };
}

/** `<id>`, then any number of `subagent:<id>`. */
function parseSubagent(tail: Parts): AgentKey | undefined {
  const words = tail.filter((_, index) => index % 2 === 1);
  if (tail.length % 2 === 0 || words.some((word) => fold(word) !== "subagent")) return undefined;
  return { family: "subagent", path: tail.filter((_, index) => index % 2 === 0).map(decodeId) };
}

/** The number of parts tells `<channel>:group:<id>` from an account called "group", whatever the ids spell. */
function parseChat(channel: string, tail: Parts): AgentKey | undefined {
  const [account = "", ...afterAccount] = tail;
  const direct = parseDirect(tail);
  if (direct !== undefined) return { ...direct, channel };
  const withAccount = parseDirect(afterAccount);
  if (withAccount !== undefined) return { ...withAccount, channel, accountId: fold(decodeId(account)) };
  return parseRoom(channel, tail);
}

function parseDirect([word = "", ...tail]: Parts) {
  return fold(word) === "direct" || fold(word) === "dm" ? parsePeer(tail) : undefined;
}

function parsePeer([peer, ...rest]: Parts) {
  const thread = threadOf(rest);
  if (peer === undefined || thread === undefined) return undefined;
  return { family: "direct", peerId: decodeId(peer), ...thread } as const;
}

function parseRoom(channel: string, [word = "", id, ...rest]: Parts): AgentKey | undefined {
  if (id === undefined) return undefined;
  switch (fold(word)) {
    case "group": {
      const inner = topicOf(rest);
      return inner && { family: "group", channel, chatId: decodeId(id), ...inner };
    }
    case "channel": {
      const thread = threadOf(rest);
      return thread && { family: "channel", channel, chatId: decodeId(id), ...thread };
    }
    case "slash":
      return rest.length === 0 ? { family: "slash", channel, userId: decodeId(id) } : undefined;
    default:
      return undefined;
  }
}

function parseOther(parts: Parts): AgentKey {
  const thread = parts.length > 2 ? threadOf(parts.slice(-2)) : undefined;
  const rest = thread === undefined ? parts : parts.slice(0, -2);
  return { family: "other", rest: encodeVerbatim(rest.join(":")), ...thread };
}

/** undefined when something else follows. */
function threadOf(parts: Parts): { readonly threadId?: string } | undefined {
  const [word = "", id] = parts;
  if (parts.length === 0) return {};
  if (parts.length !== 2 || id === undefined || fold(word) !== "thread") return undefined;
  return { threadId: decodeId(id) };
}

function topicOf(parts: Parts): { readonly topicId?: string; readonly threadId?: string } | undefined {
  const [word = "", id, ...rest] = parts;
  if (id === undefined || fold(word) !== "topic") return threadOf(parts);
  const thread = threadOf(rest);
  return thread && { topicId: decodeId(id), ...thread };
}

/** Ids that a person typed with colons in them. */
function joinIds(parts: Parts): string {
  return parts.map(decodeId).join(":");
}

function directPrefix(key: { readonly channel?: string; readonly accountId?: string }): string {
  if (key.channel === undefined) return "";
  const account = key.accountId === undefined ? "" : `${encodeId(fold(key.accountId))}:`;
  return `${encodeChannel(key.channel)}:${account}`;
}

function encodeChannel(channel: string): string {
  const word = encodeId(fold(channel));
  return isReserved(word) ? disguise(word) : word;
}

function suffix(word: string, id: string | undefined): string {
  return id === undefined ? "" : `:${word}:${encodeId(id)}`;
}

function isReserved(part: string): boolean {
  return reserved.has(fold(part)) || fold(part).startsWith("node-");
}
