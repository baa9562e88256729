import { expect, it, onTestFinished } from "vitest";
import { type WebchatMessage, webchatAdapter } from "../../src/adapters/webchat/index.ts";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { commandSpecs } from "../../src/commands/catalogue.ts";
import { createSwitchboard } from "../../src/switchboard.ts";
import { makeWorld, type World } from "../crash/crash-setup.ts";
import { labels } from "../standins/discord/components.ts";
import { makeBots } from "./bots.ts";

/** What an owner does from the phone, in this order, on every platform. */
const TYPED = [
  "hello",
  "/whoami",
  "/help",
  "/status",
  "/sessions",
  "/sessions label 1 At home on {platform}",
  '/sessions history "At home on {platform}"',
  "/agents",
  "/tools",
  "/subagents",
  "/send",
  "/send off",
  "/send on",
  "/send inherit",
  "/deliveries",
  "/pair",
  "/new",
  "/stop",
];

/** Says one thing as the owner, and resolves with what the owner then sees. */
type Phone = (text: string) => Promise<string>;

it("CMD-1 CMD-3 CMD-4: the owner can do everything from each platform, with real clients; the transcripts are kept beside this test", async () => {
  const world = await makeWorld();
  onTestFinished(() => world.close());
  const bots = await makeBots({
    ...world.setup.platforms,
    whatsapp: { ...world.setup.platforms.whatsapp, gentle: false },
  });
  const shown: WebchatMessage[] = [];
  const web = webchatAdapter({
    post: async (message) => {
      shown.push(message);
      return "posted";
    },
  });
  const board = await createSwitchboard({
    dataDir: world.setup.dataDir,
    adapters: [...bots.adapters, web],
    agents: { main: scriptedAgent(({ text }) => `You said: ${text}`) },
    owners: { ...world.setup.owners, webchat: ["olivia"] },
    config: { session: { dmScope: "per-channel-peer" } },
  });
  await board.start();
  await bots.connect();
  onTestFinished(async () => {
    await board.close();
    await bots.disconnect();
  });
  const { discord } = world;
  await discord.until(() => discord.commands().list().length === commandSpecs.length, "the menu is there");
  const phones: Readonly<Record<string, Phone>> = {
    discord: onDiscord(world),
    telegram: onTelegram(world),
    whatsapp: onWhatsApp(world),
    webchat: onWebchat(web, shown),
  };
  for (const [platform, say] of Object.entries(phones)) {
    const lines: string[] = [];
    for (const typed of TYPED) {
      const text = typed.replace("{platform}", platform);
      const seen = await say(text);
      // The receipt of one reply is stored before the next thing is asked.
      await expect.poll(() => board.deliveries.waiting()).toMatchObject({ total: 0 });
      lines.push(`> ${text}`, timeless(seen), "");
    }
    await expect(lines.join("\n")).toMatchFileSnapshot(`transcripts/${platform}.txt`);
  }
}, 60_000);

/** Menu entries on Discord, everything else is typed. */
function onDiscord({ discord }: World): Phone {
  return async (text) => {
    if (!text.startsWith("/")) {
      const before = discord.sent.length;
      discord.say(text, { in: discord.direct });
      await discord.until(() => discord.sent.length > before, text);
      return discord.sent.at(-1)?.content ?? "";
    }
    const [name = "", ...words] = text.slice(1).split(" ");
    const call = discord.slash(name, { options: filledIn(name, words), in: discord.direct });
    await discord.until(() => call.state === "answered", text);
    return call.answers.map(({ content, components }) => withButtons(content, labels(components))).join("\n");
  };
}

/** The last argument takes what is left. */
function filledIn(name: string, words: readonly string[]): Record<string, string> {
  const args = commandSpecs.find((spec) => spec.name === name)?.args ?? [];
  const last = args.length - 1;
  const values = args.map(
    (arg, at) => [arg.name, at === last ? words.slice(at).join(" ") : (words[at] ?? "")] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

function onTelegram({ telegram }: World): Phone {
  return async (text) => {
    const before = telegram.sent.length;
    telegram.say(text);
    await telegram.until(() => telegram.sent.length > before, text);
    const { text: answer = "", buttons } = telegram.sent.at(-1) ?? {};
    return withButtons(answer, buttons?.flat());
  };
}

function onWhatsApp({ whatsapp, olivia }: World): Phone {
  return async (text) => {
    const before = whatsapp.sent.length;
    await whatsapp.say(olivia, text);
    await whatsapp.until(() => whatsapp.sent.length > before);
    return whatsapp.sent.at(-1)?.text ?? "";
  };
}

function onWebchat(web: ReturnType<typeof webchatAdapter>, shown: readonly WebchatMessage[]): Phone {
  let count = 0;
  return async (text) => {
    const before = shown.length;
    count += 1;
    await web.receive({ id: `m-${count}`, chatId: "olivia", sender: { id: "olivia", name: "Olivia" }, text });
    await expect.poll(() => shown.length).toBeGreaterThan(before);
    const { markdown = "", choices = [] } = shown.at(-1) ?? {};
    return withButtons(
      markdown,
      choices.map(({ label }) => label),
    );
  };
}

function withButtons(text: string, buttons: readonly string[] = []): string {
  return buttons.length === 0 ? text : `${text}\n${buttons.map((label) => `[${label}]`).join(" ")}`;
}

/** Without what is another in each run: ids, times, how long ago. */
function timeless(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<uuid>")
    .replace(/\d{15,}|\d{6}\.\.\.\d{4}/g, "<id>")
    .replace(/^Time: .*$/m, "Time: <now>")
    .replace(/\b\d+s\b/g, "0s")
    .trimEnd();
}
