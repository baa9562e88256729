import { randomBytes } from "node:crypto";
import { ANN } from "../../test/standins/telegram/people.ts";
import { AGENTS, FIELD_GROUP, OPS_ROOM, STEPS, type Step } from "./names.ts";
import { openStage, type Stage } from "./stage.ts";
import { type Chapter, type Keys, must, StepMissing, tellExchange, tellSilence } from "./tell.ts";
import { errandAnswers, tellErrands, tellThread, threadOf } from "./tell-children.ts";

/** How long a chapter may take before it counts as not having happened. */
const PATIENCE_MS = 15_000;

const broken = brokenStep(process.argv.slice(2));
for (const round of [1, 2]) {
  try {
    await play(`nonce-${randomBytes(3).toString("hex")}`, round);
  } catch (error) {
    console.error(`\nThe story broke: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
console.log(
  "\nBoth rounds happened as told; every line was read back from the platforms' recorders and the store.",
);
process.exit(0);

async function play(nonce: string, round: number): Promise<void> {
  console.log(`\n— Round ${round}, ${nonce} —`);
  const stage = await openStage(broken);
  try {
    const keys = await introductions(stage);
    stage.telegram.say(`Please ask ops: is ${nonce} out?`);
    tell(await eventually(() => tellExchange(stage, keys, nonce)));
    stage.telegram.say(`Please run some errands for ${nonce}c.`);
    tell(await thread(stage, keys, `${nonce}t`));
    tell(await eventually(() => tellErrands(stage, keys, `${nonce}c`)));
    const before = stage.discord.sent.filter((one) => one.channelId === stage.discord.general.id).length;
    if (broken !== "silence") tell([await silence(stage)]);
    stage.telegram.say(`Please ask ops: is ${nonce}b out?`);
    tell(await eventually(() => tellSilence(stage, keys, `${nonce}b`, before)));
    must(errandAnswers(stage).length === 1, "fan-out", "nothing more was said about the errands");
  } finally {
    await stage.close();
  }
}

/** Everybody says good morning, which makes the three sessions; two of them get labels. */
async function introductions(stage: Stage): Promise<Keys> {
  const { discord, telegram, whatsapp, group, olivia, board } = stage;
  telegram.say("Good morning");
  discord.say(`<@${discord.bot.user.id}> good morning`);
  await whatsapp.say(olivia, "good morning", { in: group, mentions: [whatsapp.owner] });
  await telegram.until(() => telegram.sent.length > 0, "the Telegram bot answered");
  await discord.until(() => discord.sent.length > 0, "the Discord bot answered");
  await whatsapp.until(() => whatsapp.sent.length > 0);
  const keys = {
    telegram: `agent:${AGENTS.telegram}:main`,
    discord: `agent:${AGENTS.discord}:discord:channel:${discord.general.id}`,
    whatsapp: `agent:${AGENTS.whatsapp}:whatsapp:group:${group.jid}`,
  };
  await board.gateway.call("sessions.patch", { sessionKey: keys.discord, label: OPS_ROOM });
  await board.gateway.call("sessions.patch", { sessionKey: keys.whatsapp, label: FIELD_GROUP });
  tell([
    {
      step: "hello",
      lines: [
        `Telegram  ${ANN.first_name} is greeted: ${telegram.sent[0]?.text}`,
        `Discord   the bot greets #general: ${discord.sent[0]?.content}`,
        `WhatsApp  the bot greets "${group.subject}": ${whatsapp.sent[0]?.text}`,
      ],
    },
  ]);
  return keys;
}

/** Somebody asks the Discord bot for a thread, and talks to the subagent in it. */
async function thread(stage: Stage, keys: Keys, nonce: string): Promise<readonly Chapter[]> {
  const { discord } = stage;
  discord.say(`<@${discord.bot.user.id}> please open a thread about ${nonce}`);
  const opened = await eventually(async () => threadOf(stage, nonce));
  discord.say("where exactly?", { in: opened });
  return eventually(() => tellThread(stage, keys, nonce, opened));
}

/** The owner uses the native command in the Discord channel. */
async function silence({ discord }: Stage): Promise<Chapter> {
  await discord.until(() => discord.commands().find("send") !== undefined, "the bot registered /send");
  const call = discord.slash("send", { options: { mode: "off" } });
  await discord.until(() => call.answers.length > 0, "the bot answered /send off");
  const shown = must(call.answers[0], "silence", "/send off was answered");
  return {
    step: "silence",
    lines: [`Discord   ${discord.owner.username} uses /send off and alone reads: ${shown.content}`],
  };
}

function tell(chapters: readonly Chapter[]): void {
  for (const { lines } of chapters) for (const line of lines) console.log(`  ${line}`);
}

/** Tells as soon as it can be told; the last reason if it never can. Asked again after everything that may have changed it. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StepMissing) || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function brokenStep(args: readonly string[]): Step | undefined {
  const asked = args.find((arg) => arg.startsWith("--break="))?.slice("--break=".length);
  const step = STEPS.find((one) => one === asked);
  if (asked === undefined || step !== undefined) return step;
  console.error(`--break takes one of: ${STEPS.join(", ")}`);
  process.exit(2);
}
