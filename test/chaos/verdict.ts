import { openStore, type World } from "../crash/crash-setup.ts";
import { againstRecorders, type RunRow, resultOf, toOf, type Verdict } from "../crash/verdict.ts";
import type { SentText } from "./sender.ts";

/**
 * Compares everything that was sent with everything that arrived, without sampling: per chat the words in order, none lost and none twice; every id in the
 * store with every id on the platforms; and whatever is not known to have arrived with the list of dead letters.
 */
export function judge(world: World, texts: readonly SentText[], dead: readonly string[]): Verdict {
  const store = openStore(world.setup);
  const runs = store
    .prepare("SELECT id, pool, kind, payload, state, error, result FROM runs WHERE kind = 'delivery'")
    .all<RunRow>();
  store.close();
  const stateOf = (run: RunRow) => resultOf(run).state ?? `unsettled (${run.state})`;
  const states = new Map(runs.map((run) => [run.id, stateOf(run)]));
  const gone = runs.filter((run) => stateOf(run) === "failed" || stateOf(run) === "uncertain");
  const uncertain = gone.filter((run) => stateOf(run) === "uncertain");
  const chats = new Set(texts.map(({ to }) => `${to.channel} ${to.chatId}`));
  const count = (channel: string, state: string) =>
    runs.filter((run) => toOf(run).channel === channel && stateOf(run) === state).length;
  return {
    faults: [
      ...texts.filter(({ id }) => !states.has(id)).map(({ id }) => `sent, but not in the store: ${id}`),
      ...runs.filter((run) => stateOf(run).startsWith("unsettled")).map(({ id }) => `never settled: ${id}`),
      ...[...chats].flatMap((chat) => faultsOfChat(chat, texts, states, wordsIn(world))),
      ...againstRecorders(world, runs, uncertain),
      ...gone.filter(({ id }) => !dead.includes(id)).map(({ id }) => `not among the dead letters: ${id}`),
      ...dead.filter((id) => !gone.some((run) => run.id === id)).map((id) => `listed, but not dead: ${id}`),
    ],
    counts: Object.fromEntries(
      ["discord", "telegram", "whatsapp"].flatMap((channel) =>
        ["delivered", "failed", "uncertain"].map((state) => [`${channel} ${state}`, count(channel, state)]),
      ),
    ),
  };
}

function faultsOfChat(
  chat: string,
  all: readonly SentText[],
  states: ReadonlyMap<string, string>,
  words: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const texts = all.filter(({ to }) => `${to.channel} ${to.chatId}` === chat);
  const arrived = words.get(chat) ?? [];
  const there = new Set(arrived);
  const inOrder = texts.flatMap((text) => text.words).filter((word) => there.has(word));
  return [
    ...(arrived.length === there.size ? [] : [`${chat}: ${arrived.length - there.size} words twice`]),
    ...(inOrder.join() === arrived.join() ? [] : [`${chat}: out of order, or words that nobody sent`]),
    ...texts.flatMap(({ id, words: own }) => {
      const missing = own.filter((word) => !there.has(word));
      // Parts go in order: what is missing is the end.
      const isBeginning = own.slice(own.length - missing.length).join() === missing.join();
      const mayMiss = states.get(id) !== "delivered";
      return isBeginning && (missing.length === 0 || mayMiss) ? [] : [`${chat}: ${id} is lost in part`];
    }),
  ];
}

/** Every word in the order in which it arrived, by chat. */
export function wordsIn({ discord, telegram, whatsapp }: World): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const messages = [
    ...discord.sent.map(({ channelId, content }) => [`discord ${channelId}`, content] as const),
    ...telegram.sent.map(({ chatId, text }) => [`telegram ${chatId}`, text] as const),
    ...whatsapp.sent.map(({ to, text = "" }) => [`whatsapp ${to}`, text] as const),
  ];
  for (const [chat, text] of messages) {
    found.set(chat, [...(found.get(chat) ?? []), ...(text.match(/\bt\d+\.\d+\b/g) ?? [])]);
  }
  return found;
}
