import { messageOf } from "../core/errors.ts";
import type { FindOrigin } from "../core/inbound/origin.ts";
import type { InboundMessage } from "../core/ports/chat.ts";
import type { CommandRouter, CommandSpec, NativeCommandCall } from "../core/ports/command.ts";
import type { Logger } from "../core/ports/host.ts";
import { withoutInvisible } from "../core/text/invisible.ts";
import { commands } from "./catalogue.ts";
import type { Command, CommandParts } from "./command.ts";
import { usageOf } from "./usage.ts";
import { localeFor, wordsFor } from "./words.ts";

export interface RouterParts extends CommandParts {
  readonly findOrigin: FindOrigin;
  readonly logger: Logger;
}

/** `/name`, `/name: word`, `/name@bot word word`: one line, at most as many words as the command takes. Anything else is a message for the agent. */
const TYPED = /^\/([a-z]{1,32})(?:@\w{1,64})?(?:(?::\s*|\s+)(.*))?$/i;
/** One of a few words, perhaps misspelt; or what names something: a number, a label, a key. */
const CHOICE = /^[a-z]+$/i;
const FREE = /^[\p{L}\p{M}\p{N}_#.:@/-]{1,200}$/u;
const LINE_BREAK = /[\r\n\u2028\u2029]/;

/** Decides what is a command of ours, and who may use it. One check for every platform and every way of calling. */
export function createRouter(parts: RouterParts): CommandRouter {
  const byName = new Map(commands.map((command) => [command.spec.name, command]));
  const specs = commands.map((command) => command.spec);

  return {
    specs,
    parse(message) {
      if (!parts.config.commands.text && callsNatively(message)) return undefined;
      return typedCall(message, byName);
    },
    complete: async () => [],
    async run(call, how) {
      const command = byName.get(call.name);
      if (command === undefined) return undefined;
      const locale = localeFor(call.locale, parts.config.locale);
      const words = wordsFor(locale);
      const origin = await parts.findOrigin(call);
      if (command.spec.access === "owner" && !origin.owner) {
        const { id } = call.sender;
        parts.logger.info(
          { channel: call.from.channel, id, command: call.name },
          "Not carried out: the person is not in `owners`",
        );
        // Typed: the whole chat would read the refusal, and the text must not reach the agent either.
        return how === "typed" ? undefined : { text: words("denied.owner", { id }) };
      }
      const args = argumentsIn(call.text, command.spec);
      const use = { call, origin, args, locale, words, usage: usageOf(command.spec), specs };
      if (how === "typed") return command.run(use, parts);
      // Somebody looks at a waiting notice and gets an answer, whatever happens. A typed command is tried again instead.
      return command.run(use, parts).catch((error: unknown) => {
        parts.logger.error({ command: call.name, error: messageOf(error) }, "A command failed");
        return { text: words("notice.failed") };
      });
    },
  };
}

function typedCall(
  message: InboundMessage,
  byName: ReadonlyMap<string, Command>,
): NativeCommandCall | undefined {
  // Phones and keyboards put invisible characters around words.
  const typed = withoutInvisible(message.text).trim();
  const match = LINE_BREAK.test(typed) ? null : TYPED.exec(typed);
  const name = match?.[1]?.toLowerCase();
  const command = name === undefined ? undefined : byName.get(name);
  if (name === undefined || command === undefined) return undefined;
  const written = wordsOf(match?.[2] ?? "");
  if (!fits(written, command.spec)) return undefined;
  const { id, from, sender, locale, guildId } = message;
  return {
    id,
    name,
    text: written.join(" "),
    from,
    sender,
    ...(locale === undefined ? {} : { locale }),
    ...(guildId === undefined ? {} : { guildId }),
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function fits(written: readonly string[], { args }: CommandSpec): boolean {
  return written.every((word, at) => {
    const arg = args[at];
    return arg !== undefined && (arg.choices === undefined ? FREE : CHOICE).test(word);
  });
}

/** A word for each argument, choices in lower case; what a menu was given beyond that belongs to the last one. */
function argumentsIn(text: string, { args }: CommandSpec): readonly string[] {
  const written = wordsOf(text);
  const last = args.length - 1;
  return args
    .map((_, at) => (at === last ? written.slice(at).join(" ") : (written[at] ?? "")))
    .map((word, at) => (args[at]?.choices === undefined ? word : word.toLowerCase()))
    .filter((word) => word !== "");
}

/** Elsewhere commands can only be typed: Telegram's menu types them, WhatsApp has none. */
function callsNatively({ from }: InboundMessage): boolean {
  return from.channel === "discord";
}
