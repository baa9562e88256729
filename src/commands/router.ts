import { messageOf } from "../core/errors.ts";
import type { FindOrigin } from "../core/inbound/origin.ts";
import type { InboundMessage } from "../core/ports/chat.ts";
import type { CommandRouter, NativeCommandCall } from "../core/ports/command.ts";
import type { Logger } from "../core/ports/host.ts";
import { commands } from "./catalogue.ts";
import type { Command, CommandParts } from "./command.ts";
import { usageOf } from "./usage.ts";
import { localeFor, wordsFor } from "./words.ts";

export interface RouterParts extends CommandParts {
  readonly findOrigin: FindOrigin;
  readonly logger: Logger;
}

/** Invisible characters that phones and keyboards put around words. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** `/name`, `/name: word`, `/name@bot word`: one line, at most one argument. Anything else is a message for the agent. */
const TYPED = /^\/([a-z]{1,32})(?:@\w{1,64})?(?:(?::\s*|\s+)([a-z]*))?$/i;
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
      const argument = call.text.trim().toLowerCase();
      const use = { call, origin, argument, locale, words, usage: usageOf(command.spec), specs };
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
  const typed = message.text.replace(INVISIBLE, "").trim();
  const match = LINE_BREAK.test(typed) ? null : TYPED.exec(typed);
  const name = match?.[1]?.toLowerCase();
  const command = name === undefined ? undefined : byName.get(name);
  if (name === undefined || command === undefined) return undefined;
  const text = match?.[2] ?? "";
  if (text !== "" && command.spec.args.length === 0) return undefined;
  const { id, from, sender, locale, guildId } = message;
  return {
    id,
    name,
    text,
    from,
    sender,
    ...(locale === undefined ? {} : { locale }),
    ...(guildId === undefined ? {} : { guildId }),
  };
}

/** Elsewhere commands can only be typed: Telegram's menu types them, WhatsApp has none. */
function callsNatively({ from }: InboundMessage): boolean {
  return from.channel === "discord";
}
