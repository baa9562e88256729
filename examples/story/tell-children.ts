import type { Channel } from "../../test/standins/discord/world.ts";
import { AGENTS, ERRANDS } from "./names.ts";
import { type Row, transcript } from "./record.ts";
import type { Stage } from "./stage.ts";
import { type Chapter, type Keys, must } from "./tell.ts";

/** The subagent with a thread of its own has said in it what it found; nobody has spoken to it yet. */
export function threadOf(stage: Stage, nonce: string): Channel {
  const { discord } = stage;
  const rooms = [...discord.world.channels.values()];
  const thread = must(
    rooms.find(({ name, parent_id }) => name === nonce && parent_id === discord.general.id),
    "thread",
    "a Discord thread was opened under #general",
  );
  must(saidIn(stage, thread).length === 1, "thread", "the subagent answered in its thread");
  return thread;
}

/** A person wrote in the thread, without a mention and without the nonce, and the subagent answered. */
export async function tellThread(
  stage: Stage,
  keys: Keys,
  nonce: string,
  thread: Channel,
): Promise<readonly Chapter[]> {
  const [found, answer] = saidIn(stage, thread);
  must(
    found?.includes(nonce) && answer?.includes(nonce),
    "thread",
    "the subagent answered a person in its thread",
  );
  const key = `${keys.discord}:thread:${thread.id}`;
  const [ops, child] = await Promise.all([transcript(stage, keys.discord), transcript(stage, key)]);
  const call = must(
    ops.find((row) => row.tool === "sessions_spawn" && row.arguments.includes(nonce)),
    "thread",
    "ops called sessions_spawn",
  );
  const asked = child.findLast(({ role }) => role === "user");
  must(child.at(-1)?.text === answer, "thread", "the thread's key leads to the session of the subagent");
  must(eventsOf(ops, nonce).length === 1, "thread", "ops were told once how it ended");
  const inRoom = saidIn(stage, stage.discord.general).filter((text) => text.includes(nonce));
  must(inRoom.length === 1, "thread", "#general got one message about it");
  return [
    {
      step: "thread",
      lines: [
        `Discord   ops calls sessions_spawn ${call.arguments}`,
        `Discord   the bot says in #general: ${inRoom[0]}`,
        `Discord   the subagent says in the thread "${thread.name}": ${found}`,
        `Discord   somebody writes there, without a mention: ${asked?.text}`,
        `Discord   the subagent answers: ${answer}`,
      ],
    },
  ];
}

/** Three subagents on two agents: each ended in its own way, the concierge was told of all and spoke once. */
export async function tellErrands(stage: Stage, keys: Keys, nonce: string): Promise<readonly Chapter[]> {
  const [concierge, { sessions }] = await Promise.all([
    transcript(stage, keys.telegram),
    stage.board.gateway.call("sessions.list"),
  ]);
  const calls = concierge.filter((row) => row.tool === "sessions_spawn" && row.arguments.includes(nonce));
  must(calls.length === 3, "fan-out", "the concierge spawned three subagents");
  // The list returns rows.
  const rows = (sessions as readonly Child[]).filter(({ label }) => label in ERRANDS);
  must(
    rows.every(({ status }) => status !== "running"),
    "fan-out",
    "all subagents have ended",
  );
  const agents = new Set(rows.map(({ agentId }) => agentId));
  must(
    agents.size === 2 && !agents.has(AGENTS.telegram),
    "fan-out",
    "they were subagents of two other agents",
  );
  for (const label of Object.keys(ERRANDS)) {
    must(eventsOf(concierge, label).length === 1, "fan-out", `the concierge was told once of "${label}"`);
  }
  const yields = concierge.filter((row) => row.tool === "sessions_yield").length;
  must(yields >= 2, "fan-out", "the concierge waited again while some were out");
  const [answer = "", ...others] = errandAnswers(stage);
  for (const [label, status] of Object.entries(ERRANDS)) {
    must(
      answer.includes(`${label}: ${status}`),
      "fan-out",
      `the answer in Telegram says that "${label}" is: ${status}`,
    );
  }
  must(answer.includes(`${nonce} is in the notes`), "fan-out", "the answer in Telegram holds what was found");
  must(others.length === 0, "fan-out", "one message was posted for it");
  return [
    {
      step: "fan-out",
      lines: [
        ...calls.map((row) => `Telegram  concierge calls sessions_spawn ${row.arguments}`),
        ...rows.map(({ key, status }) => `Store     ${key} is "${status}"`),
        `Telegram  concierge waited ${yields} times, and says once: ${answer.replaceAll("\n", " | ")}`,
      ],
    },
  ];
}

/** Everything that was said in Telegram about the errands. */
export function errandAnswers({ telegram }: Stage): readonly string[] {
  return telegram.sent.map(({ text }) => text).filter((text) => text.startsWith("My errands:"));
}

interface Child {
  readonly key: string;
  readonly agentId: string;
  readonly label: string;
  readonly status: string;
}

function saidIn({ discord }: Stage, room: Channel): readonly string[] {
  return discord.sent.filter(({ channelId }) => channelId === room.id).map(({ content }) => content);
}

/** Every time that the transcript says that this subagent has ended. */
function eventsOf(rows: readonly Row[], label: string): readonly string[] {
  return rows.flatMap(({ text }) => text.match(new RegExp(`A subagent has ended: "${label}"`, "g")) ?? []);
}
