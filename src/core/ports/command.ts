import type { Address, InboundMessage, Sender } from "./chat.ts";

/** Languages that people are answered in. What models read stays English. */
export type Locale = "en" | "es" | "pt-BR" | "hi";

export type Localized = Readonly<Record<Locale, string>>;

export interface CommandArgument {
  readonly name: string;
  /** What menus call it in each language; absent: its name. */
  readonly names?: Localized;
  readonly description: Localized;
  readonly required: boolean;
  /** Closed set of values; absent = free text. */
  readonly choices?: readonly string[];
  /** What menus call each of `choices`, in their order; absent: as they are. */
  readonly choiceNames?: readonly Localized[];
  /** What free text names, where a menu can suggest it. */
  readonly completes?: "sessions" | "subagents" | "deliveries";
  /** The last argument takes all that follows, line breaks too. A list: only when the first argument is one of these may it be given. */
  readonly rest?: true | readonly string[];
}

/** One owner command as people see it: menus, help and usage lines are made from this. */
export interface CommandSpec {
  /** `[a-z]{1,32}`, the same on every platform and in every language. */
  readonly name: string;
  /** What menus call it in each language, where a platform lets them differ; absent: its name. */
  readonly names?: Localized;
  readonly description: Localized;
  readonly args: readonly CommandArgument[];
  readonly access: "owner" | "anyone";
}

/**
 * One use of a command, parsed by us or by the platform (a Discord interaction). `text` holds the arguments as one would type them: in their order, one
 * that holds blanks in double quotes unless it takes the rest.
 */
export interface NativeCommandCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly from: Address;
  readonly sender: Sender;
  readonly locale?: string;
  readonly guildId?: string;
  /** The answer becomes a message of the chat although nobody has typed: whoever is in it reads it, and the send policy decides. */
  readonly isPublic?: true;
  /** What came with the text, where the call is a message that somebody typed. */
  readonly message?: Pick<InboundMessage, "sentAtMs" | "quoted" | "attachments" | "chatTitle">;
}

/**
 * One attempt at a command. A typed one is a run: when a crash comes before its end is written there is a second attempt, and it is one command all the
 * same, about what was there when it was typed.
 */
export interface CommandAttempt {
  /** Of a typed command. What was accepted behind this run came later. */
  readonly runId?: string;
  /** Whether what began at this time, Unix ms, was there when the command came. */
  wasThere(atMs: number): boolean;
  /**
   * What the command is about, as its first attempt found it; durable before anything is done about it. Plain data. To be asked for once in an attempt.
   */
  remembered<T extends object>(look: () => Promise<T>): Promise<T>;
}

/** A value that may be meant. */
export interface Completion {
  /** What people see, 1–100 UTF-16 units. */
  readonly name: string;
  /** What the command is given, 1–100 UTF-16 units. */
  readonly value: string;
}

/** Somebody is typing an argument into a menu. */
export interface CompletionCall extends Omit<NativeCommandCall, "text" | "isPublic" | "message"> {
  /** Name of the argument. */
  readonly argument: string;
  /** What is typed so far, perhaps nothing. */
  readonly typed: string;
}

/** Something that a person can tap instead of typing it. */
export interface Choice {
  readonly label: string;
  /** The command as one would type it: `/send off`. At most 64 bytes. */
  readonly command: string;
}

/** A reply to a person. */
export interface CommandReply {
  readonly text: string;
  readonly choices?: readonly Choice[];
  /** The answer to an owner's /send goes out even in the chat that it has just silenced. */
  readonly evenIfDenied?: boolean;
}

export interface CommandRouter {
  readonly specs: readonly CommandSpec[];
  /**
   * The call, when a whole message is one of our commands; such text never reaches an agent or a transcript. What could as well be a sentence is a command
   * only when an owner says it.
   */
  parse(message: InboundMessage, by: { readonly owner: boolean }): NativeCommandCall | undefined;
  /** See AdapterHost.onComplete. */
  complete(call: CompletionCall): Promise<readonly Completion[]>;
  /**
   * undefined = say nothing. A native reply is seen by the caller alone, unless `isPublic`; a typed or public one by the whole chat, so people who may not
   * use the command get none. `attempt`: absent where the call is carried out at once and never again.
   */
  run(
    call: NativeCommandCall,
    how: "typed" | "native",
    attempt?: CommandAttempt,
  ): Promise<CommandReply | undefined>;
  /** What a caller who looks at a waiting notice is told when a call could not be carried out; the log gets the reason. Nothing where the whole chat would read it. */
  failed(call: NativeCommandCall, error: unknown): CommandReply | undefined;
}
