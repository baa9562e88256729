import { everyNode, isOpen, sinceMs, type TaskNode, taskTree, viewOf } from "../core/children/task-tree.ts";
import { cleanLine } from "../core/text/lines.ts";
import { shortLine } from "../core/text/short-line.ts";
import { type Act, byAction } from "./actions.ts";
import { meaningOf } from "./argument-words.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { logOf } from "./last-messages.ts";
import { readAlong } from "./read-along.ts";
import { infoLines, keyEnd, nameOf, plain, stateOf } from "./task-lines.ts";
import { localized } from "./words.ts";

const HOUR_MS = 3_600_000;
/** Ended ones are shown for so long; a little later they are forgotten. */
const RECENT_HOURS = 24;
const MOST_RECENT = 10;
const MOST_IN_TREE = 40;
const LONGEST_TASK = 500;
const SHOWN_WHICH = 48;
/** Fewer characters of a key could fit by chance. */
const SHORTEST_KEY_END = 4;

/** `/subagents`: what works below this chat's session, and an end to it. */
export const subagents: Command = {
  spec: {
    name: "subagents",
    description: localized("subagents.description"),
    args: [
      {
        name: "action",
        description: localized("subagents.action"),
        required: false,
        choices: ["list", "info", "log", "stop", "tree"],
      },
      { name: "which", description: localized("subagents.which"), required: false, completes: "subagents" },
    ],
    access: "owner",
  },
  run: byAction({
    list,
    tree,
    stop,
    info: onOne(async (node, use, parts) => {
      const mask = (text: string) => parts.redactor.redact(text).text;
      const task = shortLine(node.child.task, LONGEST_TASK, mask);
      return infoLines(await viewOf(node, parts), task, readAlong(use), use.words).join("\n");
    }),
    log: onOne(async (node, { words }, parts) => logOf(await viewOf(node, parts), words, parts)),
  }),
};

async function list({ origin, words }: CommandUse, parts: CommandParts): Promise<string> {
  const nodes = await shownBelow(origin.key, parts);
  const ended = nodes.filter((node) => !isOpen(node));
  const block = async (title: string, none: string, some: readonly TaskNode[]) =>
    some.length === 0 ? none : [title, ...(await rows(some, words, parts))].join("\n");
  const active = await block(words("subagents.active"), words("subagents.active.none"), nodes.filter(isOpen));
  const recent = await block(
    words("subagents.recent", { hours: RECENT_HOURS }),
    words("subagents.recent.none", { hours: RECENT_HOURS }),
    ended.slice(0, MOST_RECENT),
  );
  const more = ended.length - MOST_RECENT;
  return [active, recent, ...(more > 0 ? [words("list.more", { count: more })] : [])].join("\n\n");
}

function rows(nodes: readonly TaskNode[], words: CommandUse["words"], parts: CommandParts) {
  return Promise.all(
    nodes.map(async (node) => {
      const view = await viewOf(node, parts);
      return `#${view.index} **${nameOf(view)}**: ${stateOf(view, words)}`;
    }),
  );
}

async function tree({ origin, words }: CommandUse, parts: CommandParts): Promise<string> {
  const every = everyNode(await shownBelow(origin.key, parts));
  if (every.length === 0) return words("subagents.none");
  const [
    {
      child: { depth: top },
    } = { child: { depth: 1 } },
  ] = every;
  const lines = await Promise.all(
    every.slice(0, MOST_IN_TREE).map(async (node) => {
      const view = await viewOf(node, parts);
      const indent = "  ".repeat(Math.max(0, view.depth - top));
      return `${indent}- ${nameOf(view)}: ${stateOf(view, words)} (…${keyEnd(view.sessionKey)})`;
    }),
  );
  const more = every.length - MOST_IN_TREE;
  return [...lines, ...(more > 0 ? ["", words("list.more", { count: more })] : [])].join("\n");
}

/** What is to be stopped, or what is answered because nothing is meant. `open`: ids of the open tasks among it. */
type Meant = AllBelow | Named | { readonly answer: string };

interface AllBelow {
  readonly open: readonly string[];
}

interface Named extends AllBelow {
  readonly id: string;
  /** It has ended, and its thread is still its own. */
  readonly holdsThread: boolean;
}

async function stop(use: CommandUse, parts: CommandParts): Promise<string> {
  const meant = await use.attempt.remembered(() => toStop(use, parts));
  if ("answer" in meant) return meant.answer;
  return "id" in meant ? stopNamed(meant, use, parts) : stopAll(meant, use, parts);
}

async function toStop(use: CommandUse, parts: CommandParts): Promise<Meant> {
  const { attempt, origin, args } = use;
  const { children } = parts;
  if (await meansAll(use, parts)) {
    const open = await children.openBelow(origin.key);
    return { open: open.filter(({ spawnedAtMs }) => attempt.wasThere(spawnedAtMs)).map(({ id }) => id) };
  }
  const node = await theOne(args[1], use, parts);
  if (typeof node === "string") return { answer: node };
  const { child } = node;
  const open = [...(isOpen(node) ? [child] : []), ...(await children.openBelow(child.key))];
  return { id: child.id, open: open.map(({ id }) => id), holdsThread: await children.holdsThread(child) };
}

async function stopAll({ open }: AllBelow, { origin, words }: CommandUse, { children }: CommandParts) {
  const stopped = await children.stopBelow(origin.key, "owner", ({ id }) => open.includes(id));
  const count = await children.countStopped(stopped, open);
  return words(count === 0 ? "subagents.active.none" : "subagents.stopped", { count });
}

async function stopNamed({ id, open, holdsThread }: Named, use: CommandUse, parts: CommandParts) {
  const { origin, words } = use;
  const { children } = parts;
  const node = everyNode(await taskTree(origin.key, parts)).find(({ child }) => child.id === id);
  if (node === undefined) return words("subagents.none");
  const stopped = await children.stop(node.child, "owner", (one) => open.includes(one.id));
  const count = await children.countStopped(stopped, open);
  if (count > 0) return words("subagents.stopped", { count });
  const child = (await children.get(id)) ?? node.child;
  const view = await viewOf({ ...node, child }, parts);
  const isReleased = (await children.release(child)) || holdsThread;
  const facts = { name: nameOf(view), state: view.status, count: 0 };
  return words(isReleased ? "subagents.released" : "subagents.ended", facts);
}

/** Of other words for it a subagent may have the name. */
async function meansAll({ args: [, which = ""], origin }: CommandUse, parts: CommandParts): Promise<boolean> {
  if (which.toLowerCase() === "all") return true;
  return (
    meaningOf(which, ["all"]) !== undefined && named(which, await taskTree(origin.key, parts)).length === 0
  );
}

/** What is done with the one that `which` names; whoever names none, or more than one, is told how to. */
function onOne(act: (node: TaskNode, use: CommandUse, parts: CommandParts) => Promise<string>): Act {
  return async (use, parts) => {
    const [, which] = use.args;
    const node = await theOne(which, use, parts);
    return typeof node === "string" ? node : act(node, use, parts);
  };
}

/** The one that is meant, open ones first; or what whoever means none, or more than one, is told. */
async function theOne(
  which: string | undefined,
  { origin, words }: CommandUse,
  parts: CommandParts,
): Promise<TaskNode | string> {
  if (which === undefined) return words("subagents.sayWhich");
  const found = named(which, await taskTree(origin.key, parts));
  const open = found.filter(isOpen);
  const meant = open.length > 0 ? open : found;
  const [only, ...others] = meant;
  const shown = { which: plain(shortLine(which, SHOWN_WHICH, (text) => text)), count: meant.length };
  if (only === undefined) return words("subagents.unknown", shown);
  if (others.length === 0) return only;
  const ends = meant.slice(0, MOST_RECENT).map(({ child }) => keyEnd(child.key));
  return words("subagents.ambiguous", { ...shown, keys: ends.join(", ") });
}

/** By number among the chat's own subagents, else by label, else by the end of the key, at any depth. */
function named(which: string, nodes: readonly TaskNode[]): readonly TaskNode[] {
  const index = Number(/^#?(\d{1,9})$/.exec(which)?.[1]);
  const word = cleanLine(which).toLowerCase();
  const every = everyNode(nodes);
  const ways: readonly (readonly TaskNode[])[] = [
    nodes.filter((node) => node.index === index),
    every.filter(({ child }) => child.label?.toLowerCase() === word),
    word.length < SHORTEST_KEY_END ? [] : every.filter(({ child }) => child.key.endsWith(word)),
  ];
  return ways.find((found) => found.length > 0) ?? [];
}

async function shownBelow(key: CommandUse["origin"]["key"], parts: CommandParts) {
  return sinceMs(await taskTree(key, parts), RECENT_HOURS * HOUR_MS, parts.clock.now());
}
