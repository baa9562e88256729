/**
 * Who may reach whom, written down a second time from the contract: nothing here comes from src, so that the code and these lines can disagree.
 */

export type Level = "self" | "tree" | "agent" | "all";
export type Right = "read" | "send";

export interface Grant {
  readonly from: string;
  readonly to: string;
  readonly read: boolean;
  readonly send: boolean;
}

/** The settings that decide. */
export interface Rules {
  readonly level: Level;
  /** agents.defaults.sandbox.sessionToolsVisibility is "spawned". */
  readonly clamp: boolean;
  readonly enabled: boolean;
  readonly allow: readonly (string | Grant)[];
}

/** One session as the oracle sees it. */
export interface Member {
  readonly name: string;
  readonly key: string;
  readonly agentId: string;
  /** Keys of those that spawned it, nearest first. */
  readonly spawners: readonly string[];
  readonly sandboxed: boolean;
  readonly archived: boolean;
  readonly label?: string;
}

/** Configured agents. "box" sandboxes all of its sessions, "cell" all but its main one; "gone" was configured once. */
export const AGENT_IDS = ["main", "ops", "cipher", "box", "cell"] as const;
export const SANDBOX_MODES = [
  { id: "box", sandbox: { mode: "all" as const } },
  { id: "cell", sandbox: { mode: "non-main" as const } },
];

export function reaches(rules: Rules, caller: Member, target: Member, right: Right): boolean {
  if (caller.key === target.key) return true;
  const isBelow = target.spawners.includes(caller.key);
  if (caller.sandboxed && rules.clamp) return isBelow && rules.level !== "self";
  const isServed = AGENT_IDS.some((id) => id === target.agentId);
  const isOwnAgent = isServed && caller.agentId === target.agentId;
  const isOpenAgent = isServed && rules.enabled && patternsJoin(rules, caller.agentId, target.agentId);
  const byLevel: Readonly<Record<Level, boolean>> = {
    self: false,
    tree: isBelow,
    agent: isBelow || isOwnAgent,
    all: isBelow || isOwnAgent || isOpenAgent,
  };
  return byLevel[rules.level] || (isServed && rules.enabled && isGranted(rules, caller, target, right));
}

const expressions = new Map<string, RegExp>();

/** Whether a text fits a pattern in which `*` stands for any text. */
export function fits(pattern: string, text: string): boolean {
  const known = expressions.get(pattern) ?? expressionFor(pattern);
  expressions.set(pattern, known);
  return known.test(text);
}

function expressionFor(pattern: string): RegExp {
  const pieces = pattern.trim().split("*");
  const source = pieces.map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join("[^]*");
  return source === "" ? /[^\s\S]/ : new RegExp(`^${source}$`, "i");
}

function patternsJoin({ allow }: Rules, one: string, other: string): boolean {
  if (allow.length === 0) return true;
  const named = (id: string) => allow.some((entry) => typeof entry === "string" && fits(entry, id));
  return named(one) && named(other);
}

function isGranted({ allow }: Rules, caller: Member, target: Member, right: Right): boolean {
  return allow.some((entry) => {
    if (typeof entry === "string") return false;
    const isPair = fits(entry.from, caller.agentId) && fits(entry.to, target.agentId);
    return isPair && (right === "read" ? entry.read : entry.send);
  });
}

const members: Member[] = [];

function add(
  name: string,
  key: string,
  more: { by?: Member; sandboxed?: boolean; label?: string; archived?: boolean } = {},
): Member {
  const { by, sandboxed = false, archived = false, label } = more;
  const spawners = by === undefined ? [] : [by.key, ...by.spawners];
  const agentId = key.split(":")[1] ?? "";
  const member = {
    name,
    key,
    agentId,
    spawners,
    sandboxed,
    archived,
    ...(label === undefined ? {} : { label }),
  };
  members.push(member);
  return member;
}

let spawned = 0;

/** Keys of spawned sessions are flat: only the record says who spawned whom. */
function childKey(agentId: string): string {
  spawned += 1;
  return `agent:${agentId}:subagent:c41d0000-0000-4000-8000-${String(spawned).padStart(12, "0")}`;
}

const home = add("main's main", "agent:main:main", { label: "home" });
const group = add("main's group", "agent:main:telegram:group:-100", { label: "family" });
add("main's topic", "agent:main:telegram:group:-100:topic:7");
add("main's channel", "agent:main:discord:channel:100");
add("main's thread", "agent:main:discord:channel:100:thread:200", { label: "thread" });
add("main's direct", "agent:main:telegram:direct:11", { label: "twin" });
add("main's archived thread", "agent:main:discord:channel:100:thread:300", { archived: true });
const cron = add("main's cron", "agent:main:cron:nightly");
add("main's archived group", "agent:main:telegram:group:-5", { archived: true, label: "shelved" });
const child = add("child", childKey("main"), { by: home, label: "child" });
const grandchild = add("grandchild", childKey("main"), { by: child });
add("great-grandchild", childKey("ops"), { by: grandchild });
const abroad = add("child in ops", childKey("ops"), { by: home, label: "abroad" });
add("grandchild through ops", childKey("main"), { by: abroad });
add("archived child", childKey("main"), { by: home, archived: true });
const confined = add("confined child", childKey("main"), { by: home, sandboxed: true });
add("child of the confined one", childKey("ops"), { by: confined, sandboxed: true });
const ofGroup = add("child of the group", childKey("main"), { by: group, label: "of the group" });
add("grandchild of the group", childKey("main"), { by: ofGroup });
add("child of the cron job", childKey("main"), { by: cron });
add("child in an agent that is gone", childKey("gone"), { by: home });

const opsHome = add("ops' main", "agent:ops:main", { label: "twin" });
add("ops' channel", "agent:ops:discord:channel:100");
add("ops' child", childKey("ops"), { by: opsHome, label: "ops child" });
add("ops' child in main", childKey("main"), { by: opsHome });

const boxHome = add("box' main", "agent:box:main", { sandboxed: true, label: "boxed" });
add("box' group", "agent:box:telegram:group:-200", { sandboxed: true });
const boxChild = add("box' child", childKey("box"), { by: boxHome, sandboxed: true });
add("box' grandchild in ops", childKey("ops"), { by: boxChild, sandboxed: true });
add("box' child in main", childKey("main"), { by: boxHome, sandboxed: true });

const cellHome = add("cell's main", "agent:cell:main");
const cellGroup = add("cell's group", "agent:cell:telegram:group:-300", {
  sandboxed: true,
  label: "cell group",
});
add("cell's child", childKey("cell"), { by: cellHome, sandboxed: true });
add("cell's child in ops", childKey("ops"), { by: cellHome });
add("child in ops of cell's group", childKey("ops"), { by: cellGroup, sandboxed: true });

add("main of an agent that is gone", "agent:gone:main");
add("group of an agent that is gone", "agent:gone:telegram:group:-400");

/** Every kind of session. Each is caller and target in turn. */
export const CAST: readonly Member[] = members;

const both = { read: true, send: true };
const grant = (from: string, to: string, rights: Partial<typeof both>): Grant => ({
  from,
  to,
  read: false,
  send: false,
  ...rights,
});

/** tools.agentToAgent as owners may have set it. */
export const AGREEMENTS: readonly Pick<Rules, "enabled" | "allow">[] = [
  { enabled: false, allow: [] },
  { enabled: false, allow: ["*"] },
  { enabled: false, allow: ["*", grant("*", "*", both)] },
  ...[
    [],
    ["*"],
    ["main", "ops"],
    ["MAIN", " Ops "],
    ["m*", "*p*"],
    ["*i*"],
    ["main"],
    ["ops"],
    ["cipher"],
    ["  "],
    ["**"],
    ["box", "main", "cell"],
    [grant("main", "ops", { read: true })],
    [grant("main", "ops", { send: true })],
    [grant("main", "ops", both)],
    [grant("main", "ops", {})],
    [grant("ops", "main", both)],
    [grant("main", "main", { read: true })],
    [grant("main", "main", { send: true })],
    [grant("*", "*", { read: true })],
    [grant("*", "*", { send: true })],
    [grant("M*", "*", both)],
    [grant("*", "ops", { read: true }), grant("cell", "*", { send: true })],
    [grant("box", "*", both), "box"],
    ["main", grant("main", "ops", { read: true }), "cell"],
    [grant("gone", "*", both), grant("*", "gone", both)],
  ].map((allow) => ({ enabled: true, allow })),
];

export const LEVELS: readonly Level[] = ["self", "tree", "agent", "all"];

/** Every setting with every other. */
export const EVERY_RULE: readonly Rules[] = LEVELS.flatMap((level) =>
  [true, false].flatMap((clamp) => AGREEMENTS.map((agreement) => ({ level, clamp, ...agreement }))),
);

export function memberNamed(name: string): Member {
  const found = CAST.find((member) => member.name === name);
  if (found === undefined) throw new Error(`Nobody is called "${name}".`);
  return found;
}

/** The config that says these rules. */
export function configFor({ level, clamp, enabled, allow }: Rules) {
  return {
    tools: { sessions: { visibility: level }, agentToAgent: { enabled, allow: [...allow] } },
    agents: {
      defaults: { sandbox: { sessionToolsVisibility: clamp ? ("spawned" as const) : ("all" as const) } },
      list: SANDBOX_MODES,
    },
  };
}
