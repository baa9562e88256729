import { messageOf } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { FindOrigin } from "../core/inbound/origin.ts";
import type { InboundMessage } from "../core/ports/chat.ts";
import type {
  CommandAttempt,
  CommandReply,
  CommandRouter,
  NativeCommandCall,
} from "../core/ports/command.ts";
import type { Logger } from "../core/ports/host.ts";
import { denseText } from "../core/text/dense.ts";
import { INVISIBLE } from "../core/text/invisible.ts";
import { readArguments } from "./arguments.ts";
import { commandSpecs, commands } from "./catalogue.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { completionsOf } from "./completions.ts";
import { howToUse, usageOf } from "./usage.ts";
import { localeFor, type Words, wordsFor } from "./words.ts";

export interface RouterParts extends CommandParts {
  readonly findOrigin: FindOrigin;
  readonly logger: Logger;
}

/** Nothing comes between such a call and its end, or nobody knows of it any more. */
const AT_ONCE: CommandAttempt = { wasThere: () => true, remembered: (look) => look() };

/** `/name`, `/name: word`, `/name@bot word word`. */
const TYPED = /^\s*\/([a-z]{1,32})(?:@\w{1,64})?(?::|(?=\s)|$)/i;

/** Decides what is a command of ours, and who may use it. One check for every platform and every way of calling. */
export function createRouter(parts: RouterParts): CommandRouter {
  const byName = new Map<string, Command>(commands.map((command) => [command.spec.name, command]));

  /** Where the whole chat would read the refusal there is none. */
  function refusal({
    call,
    how,
    words,
  }: Pick<CommandUse, "call" | "how" | "words">): CommandReply | undefined {
    const { id } = call.sender;
    parts.logger.info(
      { channel: call.from.channel, id, command: call.name },
      "Not carried out: the person is not in `owners`",
    );
    return how === "typed" || call.isPublic ? undefined : { text: words("denied.owner", { id }) };
  }

  async function carryOut(
    command: Command,
    by: Omit<CommandUse, "args" | "howTo" | "specs">,
  ): Promise<CommandReply> {
    const { call, how, locale, words } = by;
    const howTo = howToUse(command.spec, locale, words);
    const reading = readArguments(call.text, command.spec, how);
    if (reading.as === "slip" && command.spec.args.length === 0) {
      return { text: words("usage.slip", { usage: usageOf(command.spec) }) };
    }
    if (reading.as === "slip" || reading.as === "words") return { text: howTo };
    const answer = command.run({ ...by, args: reading.args, howTo, specs: commandSpecs }, parts);
    // Somebody looks at a waiting notice and gets an answer, whatever happens. A typed command is tried again instead.
    return how === "typed" ? answer : answer.catch((error: unknown) => failure(call, words, error));
  }

  function failure({ name, from }: NativeCommandCall, words: Words, error: unknown): CommandReply {
    parts.logger.error({ channel: from.channel, command: name, error: messageOf(error) }, "A command failed");
    return { text: words("notice.failed") };
  }

  return {
    specs: commandSpecs,
    parse(message, { owner }) {
      if (!parts.config.commands.text && callsNatively(message)) return undefined;
      return typedCall(message, byName, owner);
    },
    async complete(call) {
      const spec = byName.get(call.name)?.spec;
      const what = spec?.args.find(({ name }) => name === call.argument)?.completes;
      if (spec === undefined || what === undefined) return [];
      const origin = await parts.findOrigin(call);
      if (spec.access === "owner" && !origin.owner) return [];
      return completionsOf(what, { origin, ...call }, parts);
    },
    async run(call, how, attempt = AT_ONCE) {
      const command = byName.get(call.name);
      if (command === undefined) return undefined;
      const locale = localeFor(call.locale, parts.config.locale);
      const words = wordsFor(locale);
      const origin = await parts.findOrigin(call);
      const by = { call, how, origin, attempt, locale, words };
      return command.spec.access === "owner" && !origin.owner ? refusal(by) : carryOut(command, by);
    },
    failed(call, error) {
      const said = failure(call, wordsFor(localeFor(call.locale, parts.config.locale)), error);
      return call.isPublic ? undefined : said;
    },
  };
}

function typedCall(
  message: InboundMessage,
  byName: ReadonlyMap<string, Command>,
  owner: boolean,
): NativeCommandCall | undefined {
  const { text, place } = denseText(message.text, INVISIBLE);
  const match = TYPED.exec(text);
  const name = match?.[1]?.toLowerCase();
  const command = name === undefined ? undefined : byName.get(name);
  if (match === null || name === undefined || command === undefined) return undefined;
  const written = message.text.slice(place(match[0].length));
  const reading = readArguments(written, command.spec, "typed");
  if (reading.as === "words" || (reading.as !== "arguments" && !owner)) return undefined;
  const { id, from, sender, locale, guildId, sentAtMs, quoted, attachments, chatTitle } = message;
  const cameWith = { sentAtMs, ...given({ quoted, attachments, chatTitle }) };
  return { id, name, text: written, from, sender, ...given({ locale, guildId }), message: cameWith };
}

/** Elsewhere commands can only be typed: Telegram's menu types them, WhatsApp has none. */
function callsNatively({ from }: InboundMessage): boolean {
  return from.channel === "discord";
}
