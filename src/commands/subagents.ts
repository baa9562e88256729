import { everyNode, isOpen, sinceMs, type TaskNode, taskTree, viewOf } from "../core/children/task-tree.ts";
import { cleanLine } from "../core/session/describe.ts";
import { shortLine } from "../core/text/short-line.ts";
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
  async run(use, parts) {
    const [action = "list"] = use.args;
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    const text = act === undefined ? use.howTo : await act(use, parts);
    return { text };
  },
};

type Act = (use: CommandUse, parts: CommandParts) => Promise<string>;

const ACTIONS: Readonly<Record<string, Act>> = {
  list,
  tree,
  stop,
  info: onOne(async (node, use, parts) => {
    const mask = (text: string) => parts.redactor.redact(text).text;
    const task = shortLine(node.child.task, LONGEST_TASK, mask);
    return infoLines(await viewOf(node, parts), task, readAlong(use), use.words).join("\n");
  }),
  log: onOne(async (node, { words }, parts) => logOf(await viewOf(node, parts), words, parts)),
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

async function stop(use: CommandUse, parts: CommandParts): Promise<string> {
  const { origin, words } = use;
  if (!(await meansAll(use, parts))) return stopNamed(use, parts);
  const { length: count } = await parts.children.stopBelow(origin.key, "owner");
  return words(count === 0 ? "subagents.active.none" : "subagents.stopped", { count });
}

/** Of other words for it a subagent may have the name. */
async function meansAll({ args: [, which = ""], origin }: CommandUse, parts: CommandParts): Promise<boolean> {
  if (which.toLowerCase() === "all") return true;
  return (
    meaningOf(which, ["all"]) !== undefined && named(which, await taskTree(origin.key, parts)).length === 0
  );
}

const stopNamed = onOne(async (node, { words }, parts) => {
  const { length: count } = await parts.children.stop(node.child, "owner");
  if (count > 0) return words("subagents.stopped", { count });
  const child = (await parts.children.get(node.child.id)) ?? node.child;
  const view = await viewOf({ ...node, child }, parts);
  const released = await parts.children.release(child);
  const facts = { name: nameOf(view), state: view.status, count: 0 };
  return words(released ? "subagents.released" : "subagents.ended", facts);
});

/** What is done with the one that `which` names; whoever names none, or more than one, is told how to. */
function onOne(act: (node: TaskNode, use: CommandUse, parts: CommandParts) => Promise<string>): Act {
  return async (use, parts) => {
    const [, which] = use.args;
    if (which === undefined) return use.words("subagents.sayWhich");
    const found = named(which, await taskTree(use.origin.key, parts));
    const open = found.filter(isOpen);
    const meant = open.length > 0 ? open : found;
    const [only, ...others] = meant;
    const shown = { which: plain(shortLine(which, SHOWN_WHICH, (text) => text)), count: meant.length };
    if (only === undefined) return use.words("subagents.unknown", shown);
    if (others.length === 0) return act(only, use, parts);
    const ends = meant.slice(0, MOST_RECENT).map(({ child }) => keyEnd(child.key));
    return use.words("subagents.ambiguous", { ...shown, keys: ends.join(", ") });
  };
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
