import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import { mayEnter } from "../policy/people.ts";
import type { Acceptance, AdapterHost, Address, ChannelAdapter, InboundMessage } from "../ports/chat.ts";
import type {
  CommandReply,
  CommandRouter,
  Completion,
  CompletionCall,
  NativeCommandCall,
} from "../ports/command.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { deliveryPool } from "../runs/run-id.ts";
import type { Moves } from "../session/moves.ts";
import type { People } from "../session/people.ts";
import type { Redactor } from "../transcript/redact.ts";
import type { FindOrigin } from "./origin.ts";

/** How often, and after how long, a message that the store could not take is tried again before the platform is told. */
const RETRY_DELAYS_MS: readonly number[] = [100, 500, 2000, 5000];

export interface AdapterHostParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly queue: RunQueue;
  readonly moves: Moves;
  readonly people: People;
  readonly router: CommandRouter;
  readonly findOrigin: FindOrigin;
  readonly accept: (message: InboundMessage) => Promise<Acceptance>;
  /** The bot has just connected. */
  readonly onReady: () => void;
  /** Live secrets leave no more in an answer that is shown at once than in one that is delivered. */
  readonly exactRedactor: Pick<Redactor, "redact">;
}

/** What one adapter may ask of the core. Nothing here rejects: an adapter runs inside somebody else's event handlers. */
export function createAdapterHost(adapter: ChannelAdapter, parts: AdapterHostParts): AdapterHost {
  const { clock, config, logger, people, queue, router } = parts;
  const about = { channel: adapter.channel, accountId: adapter.accountId };

  async function quietly<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      logger.error({ ...about, error: messageOf(error) }, `${what} failed`);
      return undefined;
    }
  }

  async function onMessage(message: InboundMessage): Promise<Acceptance> {
    for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
      try {
        return await parts.accept(message);
      } catch (error) {
        logger.error(
          { ...about, messageId: message.id, error: messageOf(error) },
          "A message could not be accepted",
        );
        if (delayMs !== undefined) await pause(clock, delayMs);
      }
    }
    return "failed";
  }

  /** A menu is open to whoever may write at the place where it is used. */
  async function mayUse(at: Pick<NativeCommandCall, "id" | "from" | "sender">): Promise<boolean> {
    const asMessage = { ...at, text: "", addressed: true, sentAtMs: clock.now() };
    return mayEnter(asMessage, config, await parts.findOrigin(at)).admitted;
  }

  async function answer(call: NativeCommandCall): Promise<CommandReply | undefined> {
    if (!(await mayUse(call))) return undefined;
    const reply = await router.run(call, "native");
    return reply && { ...reply, text: parts.exactRedactor.redact(reply.text).text };
  }

  async function complete(call: CompletionCall): Promise<readonly Completion[]> {
    if (!(await mayUse(call))) return [];
    const found = await router.complete(call);
    return found.map((one) => ({ ...one, name: parts.exactRedactor.redact(one.name).text }));
  }

  async function moved(from: Address, to: Address): Promise<void> {
    const somebody = { id: "0", isBot: false };
    const old = await parts.findOrigin({ from, sender: somebody });
    const next = await parts.findOrigin({ from: to, sender: somebody });
    await parts.moves.start(old.key, next.place, to);
  }

  return {
    commands: router.specs,
    showMenus: config.commands.native,
    logger,
    onMessage,
    onCommand: (call) => quietly("A command", () => answer(call)),
    onComplete: async (call) => (await quietly("A suggestion", () => complete(call))) ?? [],
    onChatMoved: async (from, to) => quietly("Moving a chat", () => moved(from, to)),
    onSamePerson: async (channel, id, altId) =>
      quietly("Joining two ids", () => people.join(channel, id, altId)),
    onMessageChanged: async ({ change, id }) =>
      logger.debug({ ...about, change, messageId: id }, "A message changed later"),
    onReady: () => {
      parts.onReady();
      const pool = deliveryPool(adapter.channel, adapter.accountId);
      // `quietly` handles its failures.
      void quietly("Waking deliveries", () => queue.wake(pool));
    },
  };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
