import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, it } from "vitest";
import { commands } from "../../src/commands/catalogue.ts";
import { deliveryFailed } from "../../src/core/errors.ts";
import type { GatewayMethod } from "../../src/core/gateway.ts";
import type { EventName } from "../../src/core/ports/events.ts";
import type { Logger } from "../../src/core/ports/host.ts";
import type { NewEntry } from "../../src/core/ports/run.ts";
import { createRedactor } from "../../src/core/transcript/redact.ts";
import { leaks, secretNamed } from "../core/transcript/secret-samples.ts";
import { aBoard, type Board, OPEN, type Script, use } from "../fakes/a-board.ts";
import { at, memoryAdapter } from "../fakes/memory-adapter.ts";
import { dumpOf, fileOf } from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const ROOM = at("discord", "channel", "100");
const ROOM_KEY = "agent:main:discord:channel:100";
/** No pattern knows them: one is the live bot's, one stands in the config. */
const LIVE = "Staple-Battery-Horse-of-ours";
const CONFIGURED = "tr0ub4dor&3/and more";
const REGISTERED = [LIVE, CONFIGURED];
const PATTERNS = ["GitHub personal", "Stripe live", "AWS key id"].map(secretNamed);
const SECRETS = [...REGISTERED, ...PATTERNS];

/** What somebody writes somewhere: words that nobody else uses, and every secret. */
const MARK = "zebra";
const PLANTED = new Map<string, string>();
function planted(where: string): string {
  const text = `${MARK} ${where} ${SECRETS.join(" ")}`;
  PLANTED.set(where, text);
  return text;
}
/** Errors are no messages: their reason may be told, without secrets. */
const FAILURE = `the provider refused ${SECRETS.join(" ")}`;

/** What an agent says in its own chat stays as it is, live secrets apart: an example of a key may be what was asked for. */
const exact = createRedactor({ registered: REGISTERED, patterns: false });
function inOwnChat(text: string): string {
  return exact.redact(text).text;
}

const LABEL = planted("label");
const CHILD_LABEL = planted("child label");
const MODEL = planted("model");

/** What the agent itself reports beside its reply. */
function made(): readonly NewEntry[] {
  const call = {
    type: "toolCall",
    id: "t1",
    name: planted("tool"),
    arguments: { of: planted("argument") },
  } as const;
  const result = {
    type: "toolResult",
    id: "t1",
    name: planted("tool"),
    text: planted("tool result"),
    isError: false,
  } as const;
  const file = { type: "attachment", mediaType: planted("media type"), name: planted("made file") } as const;
  return [
    { role: "assistant", content: [{ type: "thinking", text: planted("thinking") }, call, file], atMs: 1 },
    { role: "toolResult", content: [result], atMs: 1 },
  ];
}

/** Carries out the calls that somebody writes as JSON, and says so with all its secrets. */
function agent(name: string, answers: [string, unknown][]): Script {
  let answered = 0;
  return async ({ request, text, call }) => {
    const { trigger, depth } = request;
    if (trigger === "announce") return planted(`${name} announce at ${depth}`);
    if (trigger === "completion") return planted(`${name} completion`);
    if (trigger === "reply-back") return answered++ > 0 ? "REPLY_SKIP" : planted(`${name} turn`);
    if (text.includes("fail") && !text.includes("do [")) throw new Error(FAILURE);
    const calls: [string, object][] = text.includes("do [")
      ? JSON.parse(text.slice(text.indexOf("do [") + 3))
      : [];
    for (const [tool, input] of calls) answers.push([tool, await call(tool, input)]);
    return {
      status: "ok",
      reply: planted(`${name} reply at ${depth}`),
      model: MODEL,
      entries: calls.length > 0 ? [] : made(),
    };
  };
}

/** Everything that anybody outside could read, and where. */
async function aBoardThatIsListenedTo() {
  const out: { readonly way: string; readonly text: string }[] = [];
  const note = (way: string, what: unknown) =>
    out.push({
      way,
      text:
        typeof what === "string"
          ? what
          : inspect(what, { depth: 20, maxStringLength: null, breakLength: Infinity }),
    });
  const log = (details: object, message: string) => void note("log", [message, details]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const telegram = Object.assign(memoryAdapter("telegram"), { secrets: () => [LIVE] });
  const discord = memoryAdapter("discord");
  const answers: [string, unknown][] = [];
  const board = await aBoard({
    adapters: [telegram, discord],
    logger,
    agents: { main: agent("main", answers), ops: agent("ops", answers) },
    config: {
      ...OPEN,
      redaction: { values: [CONFIGURED] },
      agents: { list: [{ id: "main" }, { id: "ops" }] },
      session: { reset: { mode: "none" } },
      channels: { discord: { requireMention: false } },
    },
    externalHistory: async () => {
      throw new Error(FAILURE);
    },
  });
  const names: readonly EventName[] = [
    "message.accepted",
    "run.started",
    "run.finished",
    "tool.called",
    "child.spawned",
    "child.ended",
    "child.told",
    "exchange.settled",
    "delivery.settled",
  ];
  for (const name of names) board.on(name, (event) => void note(`event ${name}`, event));
  return { board: { ...board, telegram, discord }, out, note, answers };
}

/** Every tool, for a session that may see everything; the answers are ways out. */
async function useEveryTool(
  board: Board,
  key: string,
  note: (way: string, what: unknown) => void,
): Promise<void> {
  const calls: readonly [string, object][] = [
    ["sessions_list", { messageLimit: 20, includeDerivedTitles: true, includeLastMessage: true }],
    ["sessions_list", { archived: true, label: LABEL, kinds: [planted("kind")] }],
    ["sessions_history", { sessionKey: MAIN, includeTools: true }],
    ["sessions_history", { sessionKey: ROOM_KEY, includeTools: true }],
    ["sessions_history", { sessionKey: "agent:ops:main", includeTools: true, offset: 0 }],
    ["sessions_history", { sessionKey: planted("no key") }],
    ["session_status", { sessionKey: MAIN }],
    ["session_status", { sessionKey: LABEL }],
    ["session_status", { sessionKey: MAIN, model: planted("another model") }],
    ["subagents", {}],
    ["subagents", { action: "cancel", target: CHILD_LABEL }],
    ["sessions_spawn", { task: planted("refused task"), label: LABEL }],
    ["sessions_spawn", { task: planted("refused task"), agentId: "nobody" }],
    ["sessions_send", { label: planted("no label"), message: planted("unsent") }],
    [
      "sessions_send",
      {
        agentId: "ops",
        message: planted("sent from outside"),
        timeoutSeconds: 0,
        channel: planted("channel"),
      },
    ],
    ["sessions_yield", { message: planted("note to itself") }],
    ["agents_list", {}],
  ];
  for (const [tool, input] of calls) note(`tool ${tool} for ${key}`, await use(board, key, tool, input));
}

async function callGateway(board: Board, note: (way: string, what: unknown) => void): Promise<void> {
  const agentRun = await board.gateway.call("agent", { sessionKey: MAIN, message: planted("agent call") });
  const failed = await board.gateway.call("agent", { sessionKey: "agent:ops:main", message: "fail" });
  await board.quiet();
  const calls: readonly [GatewayMethod, object][] = [
    ["agent.wait", { runId: agentRun.runId }],
    ["agent.wait", { runId: failed.runId }],
    ["chat.send", { sessionKey: ROOM_KEY, message: planted("chat send") }],
    ["chat.history", { sessionKey: ROOM_KEY, includeTools: true }],
    ["sessions.list", { messageLimit: 20, includeLastMessage: true, includeDerivedTitles: true }],
    ["sessions.resolve", { label: LABEL }],
    ["sessions.resolve", { label: planted("no label") }],
    ["sessions.patch", { sessionKey: ROOM_KEY, label: LABEL }],
    [
      "sessions.patch",
      { sessionKey: "agent:ops:main", thinkingLevel: planted("thinking"), verboseLevel: planted("verbose") },
    ],
    ["sessions.patch", { sessionKey: [LIVE, ...PATTERNS].join(" "), pinned: true }],
  ];
  for (const [method, params] of calls) {
    const answer = await board.gateway.call(method, params).catch((error: unknown) => error);
    note(`gateway ${method}`, answer);
  }
}

it("HIST-5 G03 G04: no way out shows a secret that somebody wrote somewhere, and what is stored is exact", async () => {
  const { board, out, note, answers } = await aBoardThatIsListenedTo();
  const { telegram, discord } = board;

  // People write, in every field that is theirs.
  const theirs = {
    sender: { id: "1001", name: planted("name"), isBot: false },
    chatTitle: planted("title"),
    quoted: { text: planted("quoted"), senderName: `${MARK} quotes ${LIVE}`, forwarded: false },
    attachments: [{ mediaType: "image/png", name: planted("file") }],
  };
  await telegram.says(planted("message"), theirs);
  await discord.says(planted("room message"), { ...theirs, from: ROOM });
  await board.quiet();
  await board.gateway.call("sessions.patch", { sessionKey: MAIN, label: LABEL, model: MODEL });

  // Agents write, in every field that is theirs: to each other, to children, in threads.
  const spawned = { task: planted("task"), label: CHILD_LABEL, model: planted("spawn model") };
  const calls = [
    ["sessions_send", { agentId: "ops", message: planted("sent"), idempotencyKey: LIVE }],
    ["sessions_send", { agentId: "ops", message: `fail ${planted("sent in vain")}` }],
    ["sessions_spawn", { ...spawned, announce: "channel", thread: true }],
    ["sessions_spawn", { task: `fail ${planted("failing task")}`, announce: "channel" }],
    ["sessions_spawn", { task: planted("told task"), announce: "requester" }],
    ["sessions_spawn", { task: planted("announced task"), announce: "channel" }],
    ["sessions_list", { messageLimit: 5 }],
    ["subagents", {}],
  ];
  await discord.says(`do ${JSON.stringify(calls)}`, { from: ROOM });
  await board.quiet();
  await board.clock.advance(60_000);
  await board.quiet();

  // Somebody else's agent, the platform and people fail.
  await telegram.says("fail");
  await board.quiet();
  const send = telegram.send;
  telegram.send = async () => {
    throw deliveryFailed(FAILURE, { retryable: false, partsSent: 0 });
  };
  await telegram.says("who hears this?");
  await board.quiet();
  telegram.send = send;

  for (const key of [MAIN, ROOM_KEY]) await useEveryTool(board, key, note);
  await board.quiet();
  await callGateway(board, note);
  await board.quiet();
  const words: Readonly<Record<string, readonly string[]>> = {
    subagents: ["", "list", "tree", "info 1", "info 2", "log 1", "log 2", "stop 1", `info ${LIVE}`],
    send: ["", "inherit"],
  };
  for (const { spec } of commands) {
    for (const text of words[spec.name] ?? [""]) {
      await telegram.says(`/${spec.name} ${text}`.trim());
      await discord.says(`/${spec.name} ${text}`.trim(), { from: ROOM });
      await board.quiet();
      note(`command /${spec.name} ${text}`, (await telegram.calls(spec.name, text)) ?? "");
      note(
        `command /${spec.name} ${text} in a room`,
        (await discord.calls(spec.name, text, { from: ROOM })) ?? "",
      );
    }
  }
  await board.quiet();

  for (const [tool, answer] of answers) note(`answer of ${tool}`, answer);
  for (const title of discord.threads) note("thread title", title);
  const own = [...PLANTED.values()].map(inOwnChat);
  for (const { text } of [...telegram.sent, ...discord.sent]) {
    note(
      "chat",
      own.reduce((rest, said) => rest.replaceAll(said, ""), text),
    );
    expect(
      REGISTERED.some((secret) => leaks(text, secret)),
      text,
    ).toBe(false);
  }
  for (const [name, { turns }] of Object.entries(board.agents)) {
    for (const { trigger, input, extraSystemPrompt } of turns) {
      // Its own label for the child is its own.
      if (trigger === "completion")
        note(`${name} is told`, inspect(input.content).replaceAll(CHILD_LABEL, ""));
      if (trigger === "reply-back") note(`${name} is told`, [input.content, extraSystemPrompt]);
    }
  }

  const shown = out.flatMap(({ way, text }) => {
    // Patterns are not looked for in logs, which belong to the host.
    const secrets = way === "log" ? REGISTERED : SECRETS;
    return secrets
      .filter((secret) => leaks(text, secret))
      .map((secret) => `${way} shows ${secret} in ${text}`);
  });
  expect(shown).toEqual([]);
  const chatty = out.filter(({ way, text }) => /^(event|log)/.test(way) && text.includes(MARK));
  expect(chatty.map(({ way, text }) => `${way}: ${text}`)).toEqual([]);
  expect(new Set(out.map(({ way }) => way.split(" ")[0]))).toEqual(
    new Set(["event", "log", "tool", "gateway", "command", "answer", "thread", "chat", "main", "ops"]),
  );

  const dump = dumpOf(fileOf(board.dataDir));
  const mirror = mirrored(board.dataDir);
  const saidIn = [
    "message",
    "room message",
    "name",
    "quoted",
    "file",
    "main reply at 0",
    "main reply at 1",
    "ops reply at 0",
    "sent",
    "task",
    "argument",
    "tool",
    "tool result",
    "thinking",
    "made file",
    "model",
  ];
  for (const where of saidIn) {
    expect(dump, where).toContain(planted(where).replaceAll('"', '\\"'));
    expect(mirror, where).toContain(planted(where));
  }
});

function mirrored(dataDir: string): string {
  const folder = join(dataDir, "transcripts");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  return files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
}
