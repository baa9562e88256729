import { type ChannelConfig, type Config, channelConfig } from "../config.ts";
import { SwitchboardError } from "../errors.ts";
import type { Address, InboundMessage, Sender } from "../ports/chat.ts";
import { personIds, type SamePerson, writtenId } from "../session/person.ts";
import type { ChatScope } from "../session/resolve.ts";
import { problemWithPerson } from "./id-forms.ts";
import { isNamed, needsMention } from "./mention.ts";

/** `<channel>:<id>` of everybody who may type owner commands. */
export type Owners = ReadonlySet<string>;

/** `mayPair`: the person may be told a code with which an owner can let them in. `isShared`: no list of people opens a session that everybody shares. */
export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly reason: string; readonly mayPair?: true; readonly isShared?: true };

/** CONFIG_INVALID, naming every entry that is not a stable id: `*` and names never make an owner. No entries: no owner. */
export function createOwners(
  owners: Readonly<Record<string, readonly (string | number)[] | undefined>> = {},
): Owners {
  const entries = Object.entries(owners).flatMap(([name, written = []]) =>
    written.map((entry, index) => {
      const channel = name.toLowerCase();
      return { channel, entry, id: writtenId(channel, entry), path: `owners.${name}[${index}]` };
    }),
  );
  const problems = entries.flatMap(({ channel, entry, id, path }) => {
    const problem = problemWith(channel, entry, id);
    return problem === undefined ? [] : [`${path}: "${entry}" ${problem}`];
  });
  if (problems.length === 0) return new Set(entries.map(({ channel, id }) => `${channel}:${id}`));
  const lines = problems.map((problem) => `- ${problem}`).join("\n");
  throw new SwitchboardError("CONFIG_INVALID", `The owners have ${problems.length} problem(s):\n${lines}`, {
    details: { problems },
  });
}

/** `ownIds`: ids of the bot's own account, whose self-chat belongs to the owner (WhatsApp). */
export function isOwner(
  owners: Owners,
  channel: string,
  sender: Sender,
  known: { readonly samePerson: SamePerson; readonly ownIds?: readonly string[] },
): boolean {
  if (sender.isBot || sender.anonymous === true) return false;
  const ownIds = (known.ownIds ?? []).map((id) => writtenId(channel, id));
  return personIds(channel, sender, known.samePerson).some(
    (id) => owners.has(`${channel}:${id}`) || ownIds.includes(id),
  );
}

/** What else decides whether a message enters. */
export interface EntryFacts {
  readonly owner: boolean;
  /** The person is named in session.identityLinks (`linkedName`). */
  readonly linked: boolean;
  /** An owner has approved the person for direct messages to this account. */
  readonly paired: boolean;
  /** From resolveChat. */
  readonly scope: ChatScope;
  readonly samePerson: SamePerson;
}

/** Whether a message becomes part of a session at all. Everybody in a room counts alike; in direct chats the person decides. */
export function mayEnter(message: InboundMessage, config: Config, facts: EntryFacts): Admission {
  const { channel, chatType } = message.from;
  const settings = channelConfig(config, channel);
  if (message.sender.isBot && settings.bots === "ignore") {
    return refused(`channels.${channel}.bots is "ignore"`);
  }
  return chatType === "direct"
    ? mayEnterDirect(message, settings, facts)
    : mayEnterRoom(message.from, settings);
}

/** Whether the agent is to answer; what is not for the bot is only remembered as context. The thread of a child is there for talking to it. */
export function isForBot(
  message: InboundMessage,
  config: Config,
  { childThread }: { readonly childThread: boolean },
): boolean {
  const { channel, chatType } = message.from;
  if (childThread || chatType === "direct" || message.addressed) return true;
  const settings = channelConfig(config, channel);
  return !needsMention(message.from, settings) || isNamed(message.text, settings.mentionNames);
}

function mayEnterDirect(
  message: InboundMessage,
  { dmPolicy, allowFrom }: ChannelConfig,
  { owner, linked, paired, scope, samePerson }: EntryFacts,
): Admission {
  const { sender } = message;
  const { channel } = message.from;
  if (dmPolicy === "disabled") return refused(`channels.${channel}.dmPolicy is "disabled"`);
  if (owner || linked) return { admitted: true };
  if (scope === "main" || scope === "global") {
    const setting = scope === "main" ? 'session.dmScope is "main"' : 'session.scope is "global"';
    return { ...refused(`${setting}, so only owners and linked people may write directly`), isShared: true };
  }
  if (dmPolicy === "open") return { admitted: true };
  const listed = allowFrom.map((entry) => writtenId(channel, entry));
  if (personIds(channel, sender, samePerson).some((id) => listed.includes(id))) return { admitted: true };
  if (dmPolicy !== "pairing") return refused(`the person is not in channels.${channel}.allowFrom`);
  return paired ? { admitted: true } : unknownPerson(message);
}

/** What cannot be told apart from others, or was written long ago, is told no code. */
function unknownPerson({ from: { channel }, sender, replay }: InboundMessage): Admission {
  const isPerson = !sender.isBot && sender.anonymous !== true;
  const no = refused(`no owner has approved the person, who is not in channels.${channel}.allowFrom either`);
  return isPerson && replay !== true ? { ...no, mayPair: true } : no;
}

/** A thread of a listed room is listed too; a Discord thread may also be listed alone. */
function mayEnterRoom(
  { channel, chatType, chatId, threadId }: Address,
  { groupPolicy, groupAllowFrom }: ChannelConfig,
): Admission {
  if (groupPolicy === "open") return { admitted: true };
  if (groupPolicy === "disabled") return refused(`channels.${channel}.groupPolicy is "disabled"`);
  const listed = groupAllowFrom.map((entry) => writtenId(channel, entry));
  const isListed =
    listed.includes(chatId) ||
    (chatType === "channel" && threadId !== undefined && listed.includes(threadId));
  return isListed ? { admitted: true } : refused(`the chat is not in channels.${channel}.groupAllowFrom`);
}

function refused(reason: string): Extract<Admission, { admitted: false }> {
  return { admitted: false, reason };
}

function problemWith(channel: string, entry: string | number, id: string): string | undefined {
  if (id === "") return "is blank; write a stable id";
  if (id === "*") return "would make everybody an owner; list people by id";
  return problemWithPerson(channel, entry);
}
