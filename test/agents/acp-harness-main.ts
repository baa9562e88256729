import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

// A coding harness that speaks ACP, as a process of its own. Its first argument names what it does; see `acts`.

interface Turn {
  readonly prompt: string;
  readonly session: acp.NewSessionRequest;
  readonly client: acp.InitializeRequest;
  /** Aborts when the client cancels. */
  readonly signal: AbortSignal;
  says(text: string): Promise<void>;
  thinks(text: string): Promise<void>;
  tells(update: acp.SessionUpdate): Promise<void>;
  /** The option that the client has chosen, or "cancelled". */
  asks(toolCall: acp.ToolCallUpdate, options: readonly acp.PermissionOptionKind[]): Promise<string>;
}

type Act = (turn: Turn) => Promise<acp.StopReason | object>;

const [, , act = "", ...more] = process.argv;

/** The test looks whether these are gone. */
const written = (pid: number | undefined) => appendFileSync(process.env.PIDS ?? "", `${pid}\n`);

const forEver = () => new Promise<never>(() => {});

const call = (id: string, rest: Partial<acp.ToolCall> = {}): acp.SessionUpdate => ({
  sessionUpdate: "tool_call",
  toolCallId: id,
  title: `Call ${id}`,
  ...rest,
});

const done = (id: string, text: string, status: acp.ToolCallStatus = "completed"): acp.SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: id,
  status,
  content: [{ type: "content", content: { type: "text", text } }],
});

const acts: Record<string, Act> = {
  async echo({ prompt, says }) {
    await says(prompt);
    return "end_turn";
  },

  async facts({ session, client, says }) {
    await says(JSON.stringify({ session, client, env: process.env, workingIn: process.cwd() }));
    return "end_turn";
  },

  async work({ thinks, says, tells, asks }) {
    await thinks("Where is ");
    await thinks("the file?");
    await says("Let me ");
    await says("look.");
    await tells(
      call("a", { kind: "read", title: "Read notes.md", status: "pending", rawInput: { path: "notes.md" } }),
    );
    await tells({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "in_progress" });
    await tells(done("a", "42 lines"));
    await thinks("Now change it.");
    const toolCall = { toolCallId: "b", kind: "edit", title: "Edit notes.md" } as const;
    const decided = await asks(toolCall, ["allow_always", "allow_once", "reject_always", "reject_once"]);
    await tells({
      sessionUpdate: "tool_call_update",
      toolCallId: "b",
      status: decided === "allow_once" ? "completed" : "failed",
      rawOutput: { decided },
      content: decided === "allow_once" ? [{ type: "diff", path: "notes.md", newText: "new" }] : [],
    });
    await says("All ");
    await says("done.");
    return "end_turn";
  },

  /** Says which option was chosen among those that the second argument lists. */
  async asking({ asks, says }) {
    const kinds = (more[0] ?? "").split(",").filter(Boolean) as acp.PermissionOptionKind[];
    const decided = await asks({ toolCallId: "a", kind: "delete" }, kinds);
    await says(decided);
    return "end_turn";
  },

  /** Chunks without a pause, and the answer at once behind them. */
  async burst({ says }) {
    const words = Array.from({ length: 500 }, (_, index) => `${index} `);
    await Promise.all(words.map(says));
    return "end_turn";
  },

  async silent({ says, tells }) {
    await says("Old remark.");
    await tells(call("a"));
    await tells(done("a", "ok"));
    return "end_turn";
  },

  async thoughtful({ says, thinks }) {
    await says("First part.");
    await thinks("Is there more?");
    await says("Second part.");
    return "end_turn";
  },

  async unfinished({ says, tells }) {
    await tells(call("a", { kind: "execute" }));
    await tells({
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      status: "in_progress",
      content: [{ type: "content", content: { type: "text", text: "step 1 of 9" } }],
    });
    await says("I leave it at that.");
    return "end_turn";
  },

  /** Stops for the reason in the second argument. */
  async stops({ says, tells }) {
    await tells(call("a"));
    await tells(done("a", "ok"));
    await says("51 %, continuing");
    return (more[0] ?? "") as acp.StopReason;
  },

  async flood({ says, thinks, tells }) {
    const mebibyte = "x".repeat(1_048_576);
    await thinks(mebibyte);
    await tells(call("big", { rawInput: { text: mebibyte }, title: mebibyte }));
    await tells(done("big", mebibyte));
    for (let index = 0; index < 1500; index++) {
      await says(`step ${index}`);
      await tells(call(`call-${index}`));
      await tells(done(`call-${index}`, "y".repeat(8000)));
    }
    await says(mebibyte);
    await says("more");
    return "end_turn";
  },

  async "speaks before each call"({ says, tells }) {
    await tells(call("first"));
    for (let index = 0; index < 1500; index++) {
      await says(`step ${index}`);
      await tells(call(`call-${index}`));
    }
    await says("The end.");
    await tells(done("call-1499", "late news of a call that was left out"));
    await says(" Really.");
    return "end_turn";
  },

  async "speaks before the first call"({ says, tells }) {
    await says("Let me look.");
    for (let index = 0; index < 1500; index++) await tells(call(`call-${index}`));
    await says("The end.");
    await says(" Really.");
    return "end_turn";
  },

  /** Heeds a cancellation, and still has something to tell about it. */
  async waits({ says, tells, asks, signal }) {
    await tells(call("a", { kind: "execute" }));
    await says("51 %, continuing");
    await once(signal, "abort");
    const decided = await asks({ toolCallId: "a" }, ["reject_once"]);
    await tells(done("a", `stopped at 51 %, a question is ${decided}`, "failed"));
    return "cancelled";
  },

  /** Heeds nothing, and has a helper that heeds nothing either. */
  async deaf({ says }) {
    process.on("SIGTERM", () => {});
    await helper("ignore");
    await says("I do not listen");
    return forEver();
  },

  async "leaves a helper"({ says }) {
    await helper("ignore");
    await says("done");
    return "end_turn";
  },

  /** Its helper holds the output open. */
  async "dies before its helper"({ says }) {
    await helper("inherit");
    await says("half of it");
    return crash();
  },

  async "dies before its daemon"({ says }) {
    const daemon = await helper("inherit", true);
    await says(String(daemon.pid));
    return crash();
  },

  async crashes({ says }) {
    await says("half of it");
    process.stderr.write("a warning\n\u001b[31mfatal: no key for the model\u001b[0m\n\n");
    return crash();
  },

  async fails() {
    throw new acp.RequestError(-32603, "Internal error", { details: "the model is overloaded" });
  },

  async nonsense() {
    return { reason: "none" };
  },

  async "too long"({ says }) {
    await says("z".repeat(9_000_000));
    return "end_turn";
  },
};

/** What goes wrong before there is a prompt. */
const starts: Record<string, () => unknown> = {
  "exits at once": () => {
    process.stderr.write("usage: harness --acp\n");
    process.exit(2);
  },
  "greets only": () => process.stdout.write("Welcome to the harness!\n"),
  babbles: () => setInterval(() => process.stdout.write("Loading the plugins…\n"), 1),
  "answers without a line break": () => process.stdout.write("z".repeat(9_000_000)),
  "says nothing": () => {},
};

function crash(): Promise<never> {
  process.exitCode = 3;
  process.exit();
}

/** A process that ignores SIGTERM; running, and written down, when this resolves. */
async function helper(stdout: "ignore" | "inherit", detached = false): Promise<ChildProcess> {
  const program = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.send('ready')";
  const child = spawn(process.execPath, ["-e", program], {
    stdio: ["ignore", stdout, "ignore", "ipc"],
    detached,
  });
  written(child.pid);
  await once(child, "message");
  return child;
}

function serve(): void {
  const sessionId = "session-1";
  let client: acp.InitializeRequest | undefined;
  let session: acp.NewSessionRequest | undefined;
  const cancelled = new AbortController();
  acp
    .agent({ name: "harness of a test" })
    .onRequest(acp.methods.agent.initialize, ({ params }) => {
      client = params;
      return { protocolVersion: act === "is of tomorrow" ? 99 : acp.PROTOCOL_VERSION };
    })
    .onRequest(acp.methods.agent.session.new, ({ params }) => {
      if (act === "is not logged in") throw acp.RequestError.authRequired();
      session = params;
      return { sessionId };
    })
    .onNotification(acp.methods.agent.session.cancel, () => cancelled.abort())
    .onRequest(acp.methods.agent.session.prompt, async ({ params, client: peer }) => {
      const perform = acts[act];
      if (client === undefined || session === undefined || perform === undefined) throw new Error("no turn");
      const tells = (update: acp.SessionUpdate) =>
        peer.notify(acp.methods.client.session.update, { sessionId, update });
      await peer.notify(acp.methods.client.session.update, {
        sessionId: "session-0",
        update: {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: "Not of this session." },
        },
      });
      const stopped = await perform({
        prompt: params.prompt.map((block) => (block.type === "text" ? block.text : "?")).join(""),
        session,
        client,
        signal: cancelled.signal,
        tells,
        says: (text) => tells({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }),
        thinks: (text) => tells({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }),
        async asks(toolCall, kinds) {
          const options = kinds.map((kind) => ({ kind, optionId: kind, name: kind }));
          const asked: acp.RequestPermissionRequest = { sessionId, toolCall, options };
          const { outcome } = await peer.request(acp.methods.client.session.requestPermission, asked);
          return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
        },
      });
      // An object is an answer that the protocol does not know.
      return (typeof stopped === "string" ? { stopReason: stopped } : stopped) as acp.PromptResponse;
    })
    .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

written(process.pid);
const startUp = starts[act];
if (startUp === undefined) {
  serve();
} else {
  startUp();
  // Keeps it alive without a word.
  setInterval(() => {}, 1000);
}
