import type {
  Acceptance,
  AdapterHost,
  Address,
  Attachment,
  ChannelAdapter,
  InboundMessage,
  MessageChange,
} from "../../src/core/ports/chat.ts";
import type {
  CommandReply,
  CommandSpec,
  Completion,
  CompletionCall,
  NativeCommandCall,
} from "../../src/core/ports/command.ts";

/** One message that the platform has stored for the bot. */
export interface StoredText {
  readonly chatId: string;
  readonly threadId?: string;
  /** As the platform counts it: what `maxTextLength` limits. */
  readonly text: string;
  /** Who or what this message notifies: user ids, "@everyone", role ids. */
  readonly pings: readonly string[];
  /** Labels of what can be tapped below it; none where the platform has no such thing. */
  readonly buttons?: readonly string[];
}

export type Author = "person" | "bot" | "otherBot";

/**
 * - permanent: the platform refuses for good (unknown chat, blocked).
 * - transient: nothing was stored, later it would be (server error, no connection).
 * - rateLimit: nothing was stored, the platform says when to come back.
 * - drop: the message is stored, the answer never arrives.
 */
export type Breakage = "permanent" | "transient" | "rateLimit" | "drop";

/** What a platform must supply to be held to the contract. Every test gets a fresh one. */
export interface AdapterHarness {
  /** Not started. The client it sits on is connected. */
  readonly adapter: ChannelAdapter;
  /** A room where people and the bot write. */
  readonly chat: Address;
  readonly otherChat: Address;
  /** A thread or topic; absent where the platform has none. */
  readonly thread?: Address;
  /** A text that would notify people if the adapter let it, in this platform's own notation. */
  readonly mentionBait: string;
  /** The bot's messages in the order in which the platform stored them. */
  sent(): readonly StoredText[];
  /**
   * Somebody writes in `chat` (or `at`); "bot" is the bot's own account. Resolves when the bot's client library has called its
   * listeners, which may include waiting for onMessage: do not await it while onMessage is held.
   */
  platformSays(author: Author, text: string, at?: Address): Promise<void>;
  /** The first send after `afterParts` more parts goes wrong once. */
  breakNextSend(kind: Breakage, afterParts?: number): void;
  /** The next send gets no answer; absent where that cannot be played. */
  hangNextSend?(): void;
  /** Everything that is registered on the client: listeners, middleware, hooks. */
  listeners(): number;
  close(): Promise<void>;
  /** What a person does in `chat` beyond plain words; absent where the platform has no such thing. Each resolves like platformSays. */
  readonly person?: PersonsDeeds;
  /** A second adapter of the same account for the same client, not started, as after a restart of the switchboard alone. */
  restarted?(): ChannelAdapter;
  /** The same room as another account of this platform sees it. Closed with this one. */
  otherAccount?(): Promise<AdapterHarness>;
}

export interface PersonsDeeds {
  /** Posts a file without words; what can be known of it. */
  attaches?(): Promise<Attachment>;
  /** Writes `original`, then `text` as a reply to it. */
  replies?(text: string, original: string): Promise<void>;
  forwards?(text: string): Promise<void>;
  /** Writes `text` and changes it. */
  edits?(text: string, into: string): Promise<void>;
  /** Writes `text` and removes it. */
  removes?(text: string): Promise<void>;
}

/** How platforms differ for good reason. A sentence that does not apply is skipped, visibly. */
export interface AdapterTraits {
  /** "reported": a limit rejects the send; "waitedOut": the client library waits by itself; "none": the platform tells no limit. */
  readonly rateLimit: "reported" | "waitedOut" | "none";
  /** The client tells of the next message while the host is still busy with the last one, so platformSays resolves although onMessage is held. */
  readonly hearsAhead?: true;
}

/** The core's side of an adapter, as a notebook. */
export class RecordingHost implements AdapterHost {
  readonly messages: InboundMessage[] = [];
  readonly commandCalls: NativeCommandCall[] = [];
  readonly completionCalls: CompletionCall[] = [];
  readonly changes: MessageChange[] = [];
  readonly moves: { readonly from: Address; readonly to: Address }[] = [];
  readonly samePersons: { readonly channel: string; readonly id: string; readonly altId: string }[] = [];
  readonly log: { readonly level: string; readonly details: object; readonly message: string }[] = [];
  readonly commands: readonly CommandSpec[];
  /** Messages whose onMessage has resolved. */
  accepted = 0;
  readyCalls = 0;
  answer: (message: InboundMessage) => Acceptance | Promise<Acceptance> = () => "run";
  readonly logger = {
    debug: (details: object, message: string) => this.#note("debug", details, message),
    info: (details: object, message: string) => this.#note("info", details, message),
    warn: (details: object, message: string) => this.#note("warn", details, message),
    error: (details: object, message: string) => this.#note("error", details, message),
  };
  readonly #watchers = new Set<() => void>();

  readonly showMenus: boolean;

  /** Without commands there is no menu either. */
  constructor(commands: readonly CommandSpec[] = [], showMenus = commands.length > 0) {
    this.commands = commands;
    this.showMenus = showMenus;
  }

  async onMessage(message: InboundMessage): Promise<Acceptance> {
    this.messages.push(message);
    this.#changed();
    const acceptance = await this.answer(message);
    this.accepted++;
    this.#changed();
    return acceptance;
  }

  async onCommand(call: NativeCommandCall): Promise<CommandReply | undefined> {
    this.commandCalls.push(call);
    this.#changed();
    return { text: `answer to ${call.name}` };
  }

  async onComplete(call: CompletionCall): Promise<readonly Completion[]> {
    this.completionCalls.push(call);
    this.#changed();
    return [];
  }

  async onChatMoved(from: Address, to: Address): Promise<boolean> {
    this.moves.push({ from, to });
    this.#changed();
    return true;
  }

  async onSamePerson(channel: string, id: string, altId: string): Promise<void> {
    this.samePersons.push({ channel, id, altId });
    this.#changed();
  }

  async onMessageChanged(change: MessageChange): Promise<void> {
    this.changes.push(change);
    this.#changed();
  }

  onReady(): void {
    this.readyCalls++;
    this.#changed();
  }

  /** Resolves as soon as `condition` holds; rejects when nothing makes it true for five seconds. */
  until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(check);
        reject(new Error(`It did not happen that ${what}.`));
      }, 5000);
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#watchers.delete(check);
        resolve();
      };
      this.#watchers.add(check);
    });
  }

  /** The texts that were handed over, once there are as many as asked for. */
  async texts(count: number): Promise<readonly string[]> {
    await this.until(() => this.messages.length >= count, `${count} messages were handed over`);
    return this.messages.map((message) => message.text);
  }

  /** From now on onMessage resolves only after the returned function was called. */
  hold(): () => void {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.answer = () => released.then(() => "run" as const);
    return release;
  }

  #note(level: string, details: object, message: string): void {
    this.log.push({ level, details, message });
    this.#changed();
  }

  #changed(): void {
    for (const check of [...this.#watchers]) check();
  }
}
