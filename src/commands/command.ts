import type { Config } from "../core/config.ts";
import type { SendCheck } from "../core/delivery/send-check.ts";
import type { Origin } from "../core/inbound/origin.ts";
import type { CommandReply, CommandSpec, Locale, NativeCommandCall } from "../core/ports/command.ts";
import type { RunQueue } from "../core/ports/engine.ts";
import type { Storage } from "../core/ports/storage.ts";
import type { Sessions } from "../core/session/sessions.ts";
import type { Words } from "./words.ts";

/** What commands are made of. */
export interface CommandParts {
  readonly config: Config;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sendCheck: SendCheck;
}

/** One use of a command by somebody who may use it. */
export interface CommandUse {
  readonly call: NativeCommandCall;
  readonly origin: Origin;
  /** The argument in lower case; "" when there is none. */
  readonly argument: string;
  readonly locale: Locale;
  readonly words: Words;
  readonly usage: string;
  readonly specs: readonly CommandSpec[];
}

export interface Command {
  readonly spec: CommandSpec;
  run(use: CommandUse, parts: CommandParts): Promise<CommandReply>;
}
