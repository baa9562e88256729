import { given } from "../given.ts";
import type { ChatType } from "../ports/chat.ts";
import type { Session, SessionKey, SessionKind } from "../ports/session.ts";
import { cleanLine } from "../text/lines.ts";
import { isMainKey, type KeyNames, mainKey, type ParsedKey, partsOf, withoutAgent } from "./key.ts";

const MAX_TITLE_LENGTH = 128;
const MAX_LABEL_LENGTH = 512;
const MAX_TOKEN_LENGTH = 64;
/** Longer ids are shown by their ends. */
const MAX_ID_LENGTH = 14;

export type CleanLabel =
  | { readonly ok: true; readonly label: string }
  | { readonly ok: false; readonly reason: string };

/** `chatType` decides only for keys that do not say it themselves. */
export function kindOf(key: SessionKey, names: KeyNames, session?: Pick<Session, "chatType">): SessionKind {
  const parsed = partsOf(key);
  if (parsed.family === "global" || isMainKey(key, names)) return "main";
  switch (parsed.family) {
    case "cron":
    case "hook":
    case "node":
    case "group":
      return parsed.family;
    case "channel":
      return "group";
    case "other":
      return session?.chatType === "group" || session?.chatType === "channel" ? "group" : "other";
    default:
      return "other";
  }
}

/** Platform of a session, `internal` for cron, hook and node sessions, `unknown` when nothing tells. */
export function channelOf(session: Session): string {
  const { family } = partsOf(session.key);
  if (family === "cron" || family === "hook" || family === "node") return "internal";
  return placeOf(session).channel ?? "unknown";
}

/** Where text of this session goes: rooms stay where they are recorded, other sessions follow their route; last, the key. */
export function placeOf(session: Session): { readonly channel?: string; readonly chatType?: ChatType } {
  const said = placeInKey(partsOf(session.key));
  const { route, origin } = session;
  const isRoom = said.chatType === "group" || said.chatType === "channel";
  const recorded = isRoom ? [session, route, origin, said] : [route, session, origin, said];
  const channel = recorded.find((place) => place?.channel !== undefined)?.channel;
  const chatType = recorded.find((place) => place?.chatType !== undefined)?.chatType;
  return given({ channel, chatType });
}

/** What a key itself tells of the place. */
export function placeInKey(parsed: ParsedKey): { readonly channel?: string; readonly chatType?: ChatType } {
  switch (parsed.family) {
    case "group":
    case "channel":
      return { channel: parsed.channel, chatType: parsed.family };
    case "direct":
      return given({ chatType: parsed.family, channel: parsed.channel });
    case "slash":
      return { channel: parsed.channel };
    default:
      return {};
  }
}

/** The key as tools show it to an agent: `main` for its own main session, `global` never. canonicalKey reads it back. */
export function displayKey(key: SessionKey, callerAgentId: string, names: KeyNames): string {
  return key === mainKey(callerAgentId, names) ? "main" : outwardKey(key, names);
}

/** The key in full, as everybody may see it: `global` is a word of the inside. */
export function outwardKey(key: SessionKey, names: KeyNames): string {
  return key === "global" ? `agent:${names.defaultAgentId}:${names.mainKey}` : key;
}

/** One line for people, not unique; what platforms and people named is cleaned. */
export function displayName(session: Session): string {
  const parsed = partsOf(session.key);
  if (parsed.family === "group" || parsed.family === "channel") {
    return `${parsed.channel}:${roomToken(parsed, session.title)}${innerRoom(parsed)}${accountMark(session)}`;
  }
  if (session.label !== undefined) return session.label;
  const title = cleanTitle(session.title ?? "");
  switch (parsed.family) {
    case "direct": {
      const fallback = `${placeOf(session).channel ?? "direct"}:${shortId(parsed.peerId)}`;
      return (title || fallback) + innerRoom(parsed) + accountMark(session);
    }
    case "global":
    case "main":
      return `main${innerRoom(parsed)}`;
    case "other":
      return (title || shortId(parsed.rest)) + innerRoom(parsed);
    default:
      return withoutAgent(session.key).split(":").map(shortId).join(":");
  }
}

/** The same for others to see: masked before it is lower-cased and shortened, as what is left of a secret is not recognised. */
export function shownName(session: Session, mask: (text: string) => string): string {
  const { title, label } = session;
  const masked = {
    title: title === undefined ? undefined : mask(title),
    label: label === undefined ? undefined : mask(label),
  };
  return displayName({ ...session, ...given(masked) });
}

/** A title that a platform gave, as one harmless line of at most 128 characters; perhaps empty. */
export function cleanTitle(text: string): string {
  const characters = [...cleanLine(text)];
  if (characters.length <= MAX_TITLE_LENGTH) return characters.join("");
  return `${characters.slice(0, MAX_TITLE_LENGTH - 1).join("")}…`;
}

/** A label as it is stored and looked up: one line of 1–512 characters. */
export function cleanLabel(text: string): CleanLabel {
  const label = cleanLine(text);
  const length = [...label].length;
  if (length === 0) return { ok: false, reason: "A label needs at least one visible character." };
  if (length <= MAX_LABEL_LENGTH) return { ok: true, label };
  return { ok: false, reason: `A label has at most ${MAX_LABEL_LENGTH} characters; this one has ${length}.` };
}

function roomToken(room: Extract<ParsedKey, { family: "group" | "channel" }>, title = ""): string {
  const named = token(title);
  const base = room.family === "group" ? named.replace(/^[#-]+/, "") : named;
  const name = base || token(shortId(room.chatId)) || "unknown";
  return /^@|^g-|#/.test(name) ? name : `g-${name}`;
}

/** Threads and topics carry the title of their room, so their own id is shown too. */
function innerRoom(parsed: ParsedKey): string {
  const topic = "topicId" in parsed ? `-topic-${shortId(parsed.topicId ?? "")}` : "";
  const thread = "threadId" in parsed ? `-thread-${shortId(parsed.threadId ?? "")}` : "";
  return topic + thread;
}

function token(text: string): string {
  const dashed = cleanLine(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}#@._+-]+/gu, "-")
    .replace(/-+/g, "-");
  return [...dashed]
    .slice(0, MAX_TOKEN_LENGTH)
    .join("")
    .replace(/^[-.]+|[-.]+$/g, "");
}

/** Two accounts of one platform may know the same person. */
function accountMark(session: Session): string {
  const parsed = partsOf(session.key);
  const inKey = "accountId" in parsed ? parsed.accountId : undefined;
  const account = inKey ?? session.route?.accountId ?? session.origin?.accountId ?? "default";
  return account === "default" ? "" : ` (${cleanLine(account)})`;
}

function shortId(id: string): string {
  const characters = [...cleanLine(id)];
  if (characters.length <= MAX_ID_LENGTH) return characters.join("");
  return `${characters.slice(0, 6).join("")}...${characters.slice(-4).join("")}`;
}
