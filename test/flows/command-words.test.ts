import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../src/core/ports/chat.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { cast, childrenOf, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";

const ROOM = at("telegram", "group", "-100");
const DIRECT = at("telegram", "direct", OWNER);
const MEMBER = { id: "7", name: "Mia", isBot: false };

/** The owner says this in a room. Resolves with what came back. */
async function says(board: Board, text: string, message: Partial<InboundMessage> = {}): Promise<string> {
  const before = board.telegram.sent.length;
  await board.telegram.says(text, { from: ROOM, ...message });
  await board.quiet();
  return board.telegram.sent
    .slice(before)
    .map((sent) => sent.text)
    .join("\n---\n");
}

const echoing = (options: BoardOptions = {}) =>
  aBoard({ agents: { main: ({ text }) => `heard ${text}` }, ...options });

/** A board whose agent has a subagent at work. */
async function withChild(label = "scout"): Promise<Board> {
  const asked = spawning([{ task: "look", label }], "ok");
  const board = await aBoard({ agents: { main: cast({ asked, task: ({ signal }) => hangs(signal) }) } });
  await says(board, "go");
  return board;
}

const isStopped = (board: Board) => childrenOf(board).map(({ outcome }) => outcome?.status === "killed");

describe("words of other languages", () => {
  it.each<[string, string]>([
    ["/send apagado", "off"],
    ["/send DESACTIVADO", "off"],
    ["/send desligado", "off"],
    ["/send बंद", "off"],
    ["/send बन्द", "off"],
    ["/send: apagado", "off"],
    ["/send@our_bot desligar", "off"],
    ["/send activado", "on"],
    ["/send ligado", "on"],
    ["/send चालू", "on"],
    ["/send heredar", "inherit"],
    ["/send padrao", "inherit"],
    ["/send padrão", "inherit"],
    ["/send डिफॉल्ट", "inherit"],
  ])("CMD-5: %s means %s, whatever the language of the person", async (text, meaning) => {
    const said = { off: /^⚙️ Sending is off/, on: /^⚙️ Sending is on/, inherit: /^⚙️ This session follows/ };
    const board = await echoing();
    await says(board, "hello");
    // Of the three the type of the table knows nothing.
    expect(await says(board, text, { locale: "en" })).toMatch(said[meaning as keyof typeof said]);
    expect(await says(board, "/send inherit", { locale: "hi" })).toContain("यह सत्र");
    expect(await says(board, text, { locale: "es" })).toMatch(/^⚙️ (El envío está|Esta sesión sigue)/);
    expect(board.agents.main?.turns).toHaveLength(1);
  });

  it.each(["lista", "LISTA", "सूची", "liste"])(
    "CMD-5: /subagents %s is understood where it can be",
    async (word) => {
      const board = await withChild();
      const answer = await says(board, `/subagents ${word}`);
      expect(answer).toMatch(word === "liste" ? /^Usage: / : /^Subagents at work:\n#1 \*\*scout\*\*/);
    },
  );

  it.each(["detener todos", "parar todas", "रोको सभी", "stop todos"])(
    "CMD-5: /subagents %s stops all of them",
    async (words) => {
      const board = await withChild();
      expect(await says(board, `/subagents ${words}`)).toBe("⏹ Stopped 1 subagent.");
    },
  );

  it("CMD-5: a subagent that is called like another word for all is the one that is meant", async () => {
    const asked = spawning([{ task: "one", label: "todos" }, "two"], "ok");
    const board = await aBoard({ agents: { main: cast({ asked, task: ({ signal }) => hangs(signal) }) } });
    await says(board, "go");
    expect(await says(board, "/subagents stop todos")).toBe("⏹ Stopped 1 subagent.");
    expect(isStopped(board)).toEqual([true, false]);
    expect(await says(board, "/subagents stop todo")).toContain("No subagent here fits “todo”");
    expect(isStopped(board)).toEqual([true, false]);
  });

  it("CMD-5: the sessions command understands them with everything that follows", async () => {
    const board = await echoing();
    await says(board, "hello", { chatTitle: "Família" });
    expect(await says(board, "/sessions etiqueta familia Los míos", { locale: "es" })).toBe(
      "**telegram:g-família** tiene ahora la etiqueta «Los míos».",
    );
    await says(board, "/sessions");
    expect(await says(board, "/sessions arquivar #1", { locale: "pt-BR" })).toBe(
      "**telegram:g-família** foi arquivada. /sessions archived mostra a lista.",
    );
    expect(await says(board, "/sessions बहाल #1", { locale: "hi" })).toBe(
      "**telegram:g-família** फिर से सूची में है।",
    );
  });

  it.each([
    ["en", "Usage: /send [on|off|inherit]"],
    [
      "es",
      "Uso: /send [on|off|inherit]\nTambién puedes escribir: activado = on, desactivado = off, heredar = inherit",
    ],
    [
      "pt",
      "Uso: /send [on|off|inherit]\nVocê também pode escrever: ligado = on, desligado = off, herdar = inherit",
    ],
    ["hi", "उपयोग: /send [on|off|inherit]\nआप यह भी लिख सकते हैं: चालू = on, बंद = off, डिफ़ॉल्ट = inherit"],
  ])(
    "CMD-5: in %s a usage line tells the words of the protocol and the person's own",
    async (locale, usage) => {
      const board = await echoing();
      await says(board, "hello");
      const answer = await says(board, "/send whatever", { locale });
      expect(answer.split("\n").slice(1).join("\n")).toBe(usage);
      // What it names can be typed.
      for (const word of usage.match(/[\p{L}\p{M}]+(?= = )/gu) ?? []) {
        expect(await says(board, `/send ${word}`, { locale: "en" })).toMatch(/^⚙️ (Sending is|This session)/);
        await says(board, "/send inherit");
      }
    },
  );

  it("CMD-5: names of commands stay English", async () => {
    const board = await echoing();
    for (const text of ["/enviar apagado", "/भेजें बंद", "/sesiones"]) {
      expect(await says(board, text)).toContain(text);
    }
  });
});

describe("a stranger's owner command", () => {
  it.each(["/pair approve ABCD EFGH", "/pair remove 7", "/sessions label #1 our room", "/new", "/stop"])(
    "CMD-2 CMD-1: %j reaches no agent and is not answered",
    async (text) => {
      const board = await echoing();
      expect(await says(board, text, { sender: MEMBER })).toBe("");
      expect(board.agents.main?.turns).toEqual([]);
    },
  );

  it.each(["/new ideas for the party?", "/pair of shoes, anybody?", "/sessions are long today"])(
    "CMD-1: %j is a sentence, and the agent's",
    async (text) => {
      const board = await echoing();
      expect(await says(board, text, { sender: MEMBER })).toContain(text);
    },
  );
});

describe("a slip", () => {
  it.each([
    ["/stop now", "Nothing was done: type /stop alone."],
    ["/stop it", "Nothing was done: type /stop alone."],
    ["/status please", "Nothing was done: type /status alone."],
    ["/tools: all", "Nothing was done: type /tools alone."],
    ["/whoami really", "Nothing was done: type /whoami alone."],
    ["/stop अभी", "Nothing was done: type /stop alone."],
  ])("CMD-3: an owner's %j is answered and does nothing", async (text, answer) => {
    const board = await withChild();
    const turns = board.agents.main?.turns.length ?? 0;
    expect(await says(board, text)).toBe(answer);
    expect(isStopped(board)).toEqual([false]);
    expect(board.agents.main?.turns).toHaveLength(turns);
    expect(await says(board, text, { locale: "es" })).toMatch(/^No he hecho nada: escribe solo \//);
  });

  it.each(["/stop now please", "/stop!", "/stop now!", "/stop 5", "/status, please"])(
    "CMD-3: an owner's %j is words for the agent",
    async (text) => {
      const board = await echoing();
      expect(await says(board, text)).toContain(text);
    },
  );

  it.each([
    ["/sessions #1", "Usage: /sessions [list|archived|history|label|archive|unarchive] [which] [text]"],
    ["/deliveries 1", "Usage: /deliveries [list|retry|dismiss] [which]"],
    ["/subagents  12 ", "Usage: /subagents [list|info|log|stop|tree] [which]"],
    ["/pair: 5", "Usage: /pair [list|approve|deny|remove] [which]"],
    ["/sessions #१", "Usage: /sessions [list|archived|history|label|archive|unarchive] [which] [text]"],
  ])("CMD-3: an owner's %j is answered with the words that go before a number", async (text, answer) => {
    const board = await echoing();
    const turns = board.agents.main?.turns.length ?? 0;
    expect(await says(board, text)).toBe(answer);
    expect(board.agents.main?.turns).toHaveLength(turns);
    expect(await says(board, text, { locale: "es" })).toMatch(/^Uso: .*\nTambién/);
    expect(await says(board, text, { sender: MEMBER })).toContain(text.trim());
  });

  it.each(["/sessions 1 2", "/sessions 1.", "/deliveries #", "/subagents 1234567890", "/send 5"])(
    "CMD-3: an owner's %j is no such slip",
    async (text) => {
      const board = await echoing();
      expect(await says(board, text)).toContain(text);
    },
  );

  it("CMD-3: with a line break it is words for the agent too", async () => {
    const board = await echoing();
    expect(await says(board, "/stop\nnow", { from: DIRECT })).toContain("/stop\nnow");
  });

  it("CMD-3: somebody else's is words for the agent, so that no sentence is lost", async () => {
    const board = await echoing();
    for (const text of ["/stop now", "/status please", "/whoami really", "/help me"]) {
      expect(await says(board, text, { sender: MEMBER })).toContain(text);
    }
    expect(await says(board, "/stop", { sender: MEMBER })).toBe("");
  });

  it("CMD-3: from a menu it is answered the same way", async () => {
    const board = await echoing();
    expect(await board.telegram.calls("stop", "now", { from: ROOM })).toBe(
      "Nothing was done: type /stop alone.",
    );
    expect(await board.telegram.calls("send", "on and off", { from: ROOM })).toBe(
      "Usage: /send [on|off|inherit]",
    );
  });
});
