import { channelConfig } from "../core/config.ts";
import type { PairedPerson } from "../core/ports/pairing.ts";
import { duration } from "../core/text/duration.ts";
import { cleanLine } from "../core/text/lines.ts";
import { type Act, byAction } from "./actions.ts";
import { unquoted } from "./arguments.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { readAlong } from "./read-along.ts";
import { plain } from "./task-lines.ts";
import { localized } from "./words.ts";

/** Approved people that one answer shows, the newest. */
const MOST_SHOWN = 50;

/** `/pair`: which strangers have asked to write directly, on whichever channel, and who may. */
export const pair: Command = {
  spec: {
    name: "pair",
    description: localized("pair.description"),
    args: [
      {
        name: "action",
        description: localized("pair.action"),
        required: false,
        choices: ["list", "approve", "deny", "remove"],
      },
      {
        name: "which",
        description: localized("pair.which"),
        required: false,
        // A code is copied with the blanks around and in it.
        rest: ["approve", "deny", "remove"],
      },
    ],
    access: "owner",
  },
  run: byAction({
    list,
    // The codes of both are remembered for a while, so the second time says what the first has done.
    approve: onNamed(async (code, use, { pairing }) => {
      const person = await pairing.approve(code);
      if (person === undefined) return use.words("pair.unknownCode");
      return use.words("pair.approved", { who: nameOf(person, use) });
    }),
    deny: onNamed(async (code, use, { pairing }) => {
      const person = await pairing.deny(code);
      if (person === undefined) return use.words("pair.unknownCode");
      return use.words("pair.denied", { who: nameOf(person, use) });
    }),
    remove: onNamed(async (id, use, { pairing }) => {
      const { people } = await use.attempt.remembered(async () => ({ people: await pairing.named(id) }));
      if (people.length === 0) return use.words("pair.unknownPerson");
      const channels = [...new Set(people.map(({ from }) => from.channel))];
      if (channels.length > 1) return use.words("pair.severalPeople", { which: eachWith(channels, id, use) });
      await pairing.remove(people);
      const who = people.map((person) => nameOf(person, use));
      return use.words("pair.removed", { who: new Intl.ListFormat(use.locale).format(who) });
    }),
  }),
};

/** `telegram:123` or `whatsapp:123` */
function eachWith(channels: readonly string[], id: string, { locale }: CommandUse): string {
  const ids = channels.map((channel) => `\`${channel}:${id.replaceAll("`", "'")}\``);
  return new Intl.ListFormat(locale, { type: "disjunction" }).format(ids);
}

function onNamed(act: (which: string, use: CommandUse, parts: CommandParts) => Promise<string>): Act {
  return async (use, parts) => {
    const which = cleanLine(unquoted(use.args[1] ?? ""));
    return which === "" ? use.words("pair.sayWhich") : act(which, use, parts);
  };
}

async function list(use: CommandUse, { pairing, clock, config }: CommandParts): Promise<string> {
  const { words } = use;
  if (readAlong(use)) return words("pair.inDirect");
  const { pending, approved } = await pairing.list();
  const age = ({ atMs }: PairedPerson) => duration(clock.now() - atMs);
  const requests = pending.map(
    (one) => `- ${words("pair.request", { code: one.code, who: nameOf(one, use), age: age(one) })}`,
  );
  const people = approved
    .slice(-MOST_SHOWN)
    .map((one) => `- ${words("pair.person", { who: nameOf(one, use), age: age(one) })}`);
  const more = approved.length - people.length;
  const isOn = Object.keys(config.channels).some(
    (name) => channelConfig(config, name).dmPolicy === "pairing",
  );
  return [
    ...(isOn ? [] : [words("pair.off")]),
    words(requests.length === 0 ? "pair.pending.none" : "pair.pending"),
    ...requests,
    words(people.length === 0 ? "pair.people.none" : "pair.people"),
    ...(more > 0 ? [words("pair.more", { count: more })] : []),
    ...people,
  ].join("\n");
}

/** `Ann (telegram: 123)`; before others without the id, which on WhatsApp is a phone number. */
function nameOf({ name, ids, from }: PairedPerson, use: CommandUse): string {
  const called = name === undefined ? undefined : plain(name);
  if (readAlong(use)) return called ?? from.channel;
  const account = from.accountId === "default" ? from.channel : `${from.channel}/${from.accountId}`;
  const id = `${account}: \`${ids.join(", ").replaceAll("`", "'")}\``;
  return called === undefined ? id : `${called} (${id})`;
}
