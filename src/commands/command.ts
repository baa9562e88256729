import type { Children } from "../core/children/children.ts";
import type { Config } from "../core/config.ts";
import type { SendCheck } from "../core/delivery/send-check.ts";
import type { Origin } from "../core/inbound/origin.ts";
import type { CommandReply, CommandSpec, Locale, NativeCommandCall } from "../core/ports/command.ts";
import type { RunQueue } from "../core/ports/engine.ts";
import type { Clock } from "../core/ports/host.ts";
import type { Storage } from "../core/ports/storage.ts";
import type { ToolCheck } from "../core/runs/tool-check.ts";
import type { KeyNames } from "../core/session/key.ts";
import type { ReadStatus } from "../core/session/read-status.ts";
import type { Sessions } from "../core/session/sessions.ts";
import type { Redactor } from "../core/transcript/redact.ts";
import type { Words } from "./words.ts";

/** What commands are made of. */
export interface CommandParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly names: KeyNames;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sendCheck: SendCheck;
  readonly redactor: Redactor;
  readonly children: Children;
  readonly readStatus: ReadStatus;
  readonly toolCheck: ToolCheck;
}

/** One use of a command by somebody who may use it. */
export interface CommandUse {
  readonly call: NativeCommandCall;
  readonly origin: Origin;
  /** As many as were given, in the order of the spec: choices in lower case, free words as they were written. */
  readonly args: readonly string[];
  readonly locale: Locale;
  readonly words: Words;
  readonly usage: string;
  readonly specs: readonly CommandSpec[];
}

export interface Command {
  readonly spec: CommandSpec;
  run(use: CommandUse, parts: CommandParts): Promise<CommandReply>;
}
