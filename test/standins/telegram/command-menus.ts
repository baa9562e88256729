import type { BotCommand } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { jsonOf, type Payload, recordOf, textOf } from "./payload.ts";

/** Telegram names no number; other bots report that about this much still goes through. */
const MOST_CHARACTERS = 5700;
const PLAIN_SCOPES = new Set(["default", "all_private_chats", "all_group_chats", "all_chat_administrators"]);
const CHAT_SCOPES = new Set(["chat", "chat_administrators", "chat_member"]);

/** The command lists of one bot: each pair of scope and language has its own, and setting one replaces it whole. */
export class CommandMenus {
  readonly #lists = new Map<string, readonly BotCommand[]>();
  readonly #knowsChat: (chatId: string) => boolean;

  constructor(knowsChat: (chatId: string) => boolean) {
    this.#knowsChat = knowsChat;
  }

  set(payload: Payload): true {
    const key = this.#keyOf(payload);
    const commands = jsonOf(payload, "commands");
    if (!Array.isArray(commands)) throw badRequest("can't parse commands");
    if (commands.length > 100) throw badRequest("BOT_COMMANDS_TOO_MUCH");
    const list = commands.map(checkedCommand);
    const size = list.reduce((sum, { command, description }) => sum + command.length + description.length, 0);
    if (size > MOST_CHARACTERS) throw badRequest("BOT_COMMANDS_TOO_MUCH");
    if (list.length === 0) this.#lists.delete(key);
    else this.#lists.set(key, list);
    return true;
  }

  get(payload: Payload): readonly BotCommand[] {
    return this.#lists.get(this.#keyOf(payload)) ?? [];
  }

  delete(payload: Payload): true {
    this.#lists.delete(this.#keyOf(payload));
    return true;
  }

  /** What a person sees after typing "/": the narrowest list that is set, the one in their language first. */
  seenBy(
    language: string,
    scopes: readonly string[] = ["all_private_chats", "default"],
  ): readonly BotCommand[] {
    const candidates = scopes.flatMap((type) => [keyOf({ type }, language), keyOf({ type }, "")]);
    return candidates.map((key) => this.#lists.get(key)).find((list) => list !== undefined) ?? [];
  }

  #keyOf(payload: Payload): string {
    const scope = recordOf(payload, "scope") ?? { type: "default" };
    const type = String(scope.type);
    if (!PLAIN_SCOPES.has(type) && !CHAT_SCOPES.has(type)) throw badRequest("can't parse BotCommandScope");
    if (CHAT_SCOPES.has(type) && !this.#knowsChat(String(scope.chat_id))) throw badRequest("chat not found");
    const language = textOf(payload, "language_code");
    if (!/^([a-z]{2})?$/.test(language)) throw badRequest("invalid language code specified");
    return keyOf(scope, language);
  }
}

const keyOf = (scope: Readonly<Record<string, unknown>>, language: string) =>
  JSON.stringify([scope.type, scope.chat_id, scope.user_id, language]);

function checkedCommand(value: unknown): BotCommand {
  const { command, description, is_ephemeral } = { command: "", description: "", ...Object(value) };
  const name = String(command).replace(/^\//, "").toLowerCase();
  if (!/^[a-z0-9_]{1,32}$/.test(name)) throw badRequest("BOT_COMMAND_INVALID");
  const text = String(description);
  if (text.length < 1 || text.length > 256) throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
  return { command: name, description: text, ...(is_ephemeral === true ? { is_ephemeral } : {}) };
}
