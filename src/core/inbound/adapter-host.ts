import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
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
import { newSession } from "../session/arrival.ts";
import type { Moves } from "../session/moves.ts";
import type { People } from "../session/people.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import type { FindOrigin } from "./origin.ts";
import type { Overheard } from "./overheard.ts";

/** How often, and after how long, a message that the store could not take is tried again before the platform is told. */
const RETRY_DELAYS_MS: readonly number[] = [100, 500, 2000, 5000];

export interface AdapterHostParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly queue: RunQueue;
  readonly sessions: Pick<Sessions, "get">;
  readonly sendCheck: SendCheck;
  readonly moves: Moves;
  readonly people: People;
  readonly overheard: Overheard;
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
    if (reply === undefined || !(await mayShow(call, reply))) return undefined;
    return { ...reply, text: parts.exactRedactor.redact(reply.text).text };
  }

  /** What everybody reads follows the policy, as it does when it is sent. */
  async function mayShow(call: NativeCommandCall, { evenIfDenied }: CommandReply): Promise<boolean> {
    if (call.isPublic !== true || evenIfDenied === true) return true;
    const { key, agentId } = await parts.findOrigin(call);
    const toBe = newSession({ key, agentId, nowMs: clock.now(), newSessionId: "" });
    return (await parts.sendCheck((await parts.sessions.get(key)) ?? toBe, call.from)).allowed;
  }

  async function complete(call: CompletionCall): Promise<readonly Completion[]> {
    if (!(await mayUse(call))) return [];
    const found = await router.complete(call);
    return found.map((one) => ({ ...one, name: parts.exactRedactor.redact(one.name).text }));
  }

  async function moved(from: Address, to: Address): Promise<true> {
    const somebody = { id: "0", isBot: false };
    const old = await parts.findOrigin({ from, sender: somebody });
    const next = await parts.findOrigin({ from: to, sender: somebody });
    await parts.moves.start(old.key, next.place, to);
    await parts.overheard.move(old.place.key, next.place.key);
    return true;
  }

  return {
    commands: router.specs,
    showMenus: config.commands.native,
    logger,
    onMessage,
    onCommand: (call) => answer(call).catch((error: unknown) => router.failed(call, error)),
    onComplete: async (call) => (await quietly("A suggestion", () => complete(call))) ?? [],
    onChatMoved: async (from, to) => (await quietly("Moving a chat", () => moved(from, to))) ?? false,
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
