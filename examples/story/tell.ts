import type { Exchange } from "../../src/core/ports/exchange.ts";
import { OPS_ROOM } from "./names.ts";
import { exchangeOf, type Row, said, transcript } from "./record.ts";
import type { Stage } from "./stage.ts";

/** A line of the story, and what must be true for it to be told. */
export interface Chapter {
  readonly step: string;
  readonly lines: readonly string[];
}

/** A step that did not happen. */
export class StepMissing extends Error {}

export interface Keys {
  readonly telegram: string;
  readonly discord: string;
  readonly whatsapp: string;
}

/** The first half: question, answer, talk, announce, relay and the second announce, read back from platforms and store. */
export async function tellExchange(stage: Stage, keys: Keys, nonce: string): Promise<readonly Chapter[]> {
  const [concierge, ops, field] = await Promise.all([
    transcript(stage, keys.telegram),
    transcript(stage, keys.discord),
    transcript(stage, keys.whatsapp),
  ]);
  const call = must(
    find(concierge, (row) => row.tool === "sessions_send" && row.arguments.includes(nonce)),
    "ask",
    "the concierge called sessions_send",
  );
  const question = must(
    find(ops, (row) => row.role === "user" && row.source === keys.telegram && row.text.includes(nonce)),
    "ask",
    "the question reached ops, marked as inter-session data",
  );
  const answer = must(
    find(ops, (row) => row.role === "assistant" && row.runId === question.runId && row.text.includes(nonce)),
    "echo",
    "ops answered with the nonce of the question",
  );
  const told = must(
    said(stage).telegram.find((text) => text.includes(answer.text)),
    "echo",
    "the answer reached the Telegram chat",
  );
  const turns = [...concierge, ...ops].filter(
    (row) => /#[12]$/.test(row.runId) && row.role === "assistant" && row.text.includes(nonce),
  );
  must(turns.length >= 2 || undefined, "talk", "the two agents talked on for at least two turns");
  const exchange = must(
    await announced(stage, question.runId),
    "announce",
    "the exchange ended with an announcement",
  );
  const posted = must(
    said(stage).discord.find((text) => text.includes("Deployed") && text.includes(nonce)),
    "announce",
    "the announcement stands in the Discord channel",
  );
  const relayed = must(
    find(field, (row) => row.role === "user" && row.source === keys.discord && row.text.includes(nonce)),
    "relay",
    "ops sent on to the WhatsApp session",
  );
  must(await announced(stage, relayed.runId), "field", "the second exchange ended with an announcement");
  const group = must(
    said(stage).whatsapp.find((text) => text.includes("Team:") && text.includes(nonce)),
    "field",
    "the field agent announced in its group",
  );
  return [
    {
      step: "ask",
      lines: [
        `Telegram  concierge calls ${call.tool} ${call.arguments}`,
        `Discord   ops is asked by ${question.source}: ${question.text}`,
      ],
    },
    {
      step: "echo",
      lines: [
        `Discord   ops answers the concierge (not in the channel): ${answer.text}`,
        `Telegram  the bot says: ${told}`,
      ],
    },
    { step: "talk", lines: turns.map((row) => `Exchange  turn ${row.runId.at(-1)}: ${row.text}`) },
    {
      step: "announce",
      lines: [
        `Discord   the bot announces in #general: ${posted}`,
        `Store     the exchange is "${exchange.state}", delivery ${exchange.deliveryId?.slice(-12)}`,
      ],
    },
    { step: "relay", lines: [`WhatsApp  field is asked by ${relayed.source}: ${relayed.text}`] },
    { step: "field", lines: [`WhatsApp  the bot announces in "${stage.group.subject}": ${group}`] },
  ];
}

/** The second half: after `/send off` the same question is answered, and nothing more leaves for the channel. */
export async function tellSilence(
  stage: Stage,
  keys: Keys,
  nonce: string,
  before: number,
): Promise<readonly Chapter[]> {
  const [ops, { sessions }] = await Promise.all([
    transcript(stage, keys.discord),
    stage.board.gateway.call("sessions.list", { label: OPS_ROOM }),
  ]);
  const question = must(
    find(ops, (row) => row.role === "user" && row.source === keys.telegram && row.text.includes(nonce)),
    "silence",
    "the second question reached ops",
  );
  const answer = must(
    find(ops, (row) => row.role === "assistant" && row.runId === question.runId && row.text.includes(nonce)),
    "silence",
    "the silenced session still answers its caller",
  );
  const told = must(
    said(stage).telegram.find((text) => text.includes(nonce)),
    "silence",
    "the answer reached Telegram",
  );
  const exchange = must(await settled(stage, question.runId), "silence", "the second exchange ended");
  must(
    exchange.state === "suppressed" || undefined,
    "silence",
    `the announcement was suppressed (it is "${exchange.state}")`,
  );
  must(
    said(stage).discord.length === before || undefined,
    "silence",
    "nothing more was said in the Discord channel",
  );
  // The list returns rows; the label picks one.
  const [row] = sessions as readonly { readonly sendPolicy?: string }[];
  return [
    {
      step: "silence",
      lines: [
        `Store     the Discord session's sendPolicy is now "${row?.sendPolicy}"`,
        `Discord   ops still answers the concierge: ${answer.text}`,
        `Telegram  the bot says: ${told}`,
        `Discord   nothing is said in #general: ${exchange.reason}`,
      ],
    },
  ];
}

/** The value, or the step that did not happen. */
export function must<T>(value: T | undefined | false, step: string, what: string): T {
  if (value === undefined || value === false) throw new StepMissing(`step "${step}" did not happen: ${what}`);
  return value;
}

async function announced(stage: Stage, runId: string): Promise<Exchange | undefined> {
  const exchange = await settled(stage, runId);
  return exchange?.state === "announced" ? exchange : undefined;
}

async function settled(stage: Stage, runId: string): Promise<Exchange | undefined> {
  const exchange = await exchangeOf(stage, runId);
  return exchange === undefined || exchange.state === "open" ? undefined : exchange;
}

function find(rows: readonly Row[], fits: (row: Row) => boolean): Row | undefined {
  return rows.find(fits);
}
