import type { Children } from "../core/children/children.ts";
import type { Config } from "../core/config.ts";
import type { SendCheck } from "../core/delivery/send-check.ts";
import type { Undelivered } from "../core/delivery/undelivered.ts";
import type { Intake } from "../core/inbound/intake.ts";
import type { Origin } from "../core/inbound/origin.ts";
import type { Overheard } from "../core/inbound/overheard.ts";
import type { Pairing } from "../core/inbound/pairing.ts";
import type {
  CommandAttempt,
  CommandReply,
  CommandSpec,
  Locale,
  NativeCommandCall,
} from "../core/ports/command.ts";
import type { RunQueue } from "../core/ports/engine.ts";
import type { Clock } from "../core/ports/host.ts";
import type { AgentRunner } from "../core/ports/run.ts";
import type { Storage } from "../core/ports/storage.ts";
import type { ToolCheck } from "../core/runs/tool-check.ts";
import type { KeyNames } from "../core/session/key.ts";
import type { ReadStatus } from "../core/session/read-status.ts";
import type { Sessions } from "../core/session/sessions.ts";
import type { Redactor } from "../core/transcript/redact.ts";
import type { OwnSpec } from "./menu-names.ts";
import type { Words } from "./words.ts";

/** What commands are made of. */
export interface CommandParts {
  readonly config: Config;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly clock: Clock;
  readonly names: KeyNames;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sendCheck: SendCheck;
  readonly intake: Intake;
  readonly overheard: Pick<Overheard, "letGo">;
  readonly redactor: Redactor;
  readonly children: Children;
  readonly undelivered: Undelivered;
  readonly pairing: Pairing;
  readonly readStatus: ReadStatus;
  readonly toolCheck: ToolCheck;
}

/** One use of a command by somebody who may use it. */
export interface CommandUse {
  readonly call: NativeCommandCall;
  /** typed: the call is a message of the chat. Who reads the reply: see readAlong. */
  readonly how: "typed" | "native";
  readonly origin: Origin;
  readonly attempt: CommandAttempt;
  /** See readArguments. */
  readonly args: readonly string[];
  readonly locale: Locale;
  readonly words: Words;
  /** How the command is used, for somebody who used it otherwise. */
  readonly howTo: string;
  readonly specs: readonly CommandSpec[];
}

export interface Command {
  readonly spec: OwnSpec;
  run(use: CommandUse, parts: CommandParts): Promise<CommandReply>;
}
