import { configWarnings } from "./core/config-warnings.ts";
import { startDeliveries } from "./core/delivery/deliveries.ts";
import type { Undelivered } from "./core/delivery/undelivered.ts";
import { startUnserved } from "./core/delivery/unserved.ts";
import { SwitchboardError } from "./core/errors.ts";
import type { Gateway } from "./core/gateway.ts";
import { createAdapterHost } from "./core/inbound/adapter-host.ts";
import { COMMAND_POOL, createCommandHandler } from "./core/inbound/command-run.ts";
import { OVERHEARD_POOL } from "./core/inbound/overheard.ts";
import type { Events } from "./core/ports/events.ts";
import type { BoundTool } from "./core/ports/run.ts";
import { AGENT_POOL, CHILD_POOL, UPKEEP_POOL } from "./core/runs/job.ts";
import { canonicalKey } from "./core/session/key.ts";
import { createBasics, type SwitchboardOptions } from "./options.ts";
import { createDoors, createServices, openStore } from "./wiring.ts";

export interface Switchboard {
  /** Connects the adapters and begins to work, first on what an earlier process left. Call once. */
  start(): Promise<void>;
  /** Session tools for an agent loop of your own, bound to an existing session; SESSION_NOT_FOUND for any other. */
  tools(sessionKey: string): Promise<readonly BoundTool[]>;
  readonly gateway: Gateway;
  /** What was to leave and has not: on its way, or given up until you decide. */
  readonly deliveries: Pick<Undelivered, "waiting" | "deadLetters" | "retry" | "dismiss">;
  /** Subscribes to an event; the returned function unsubscribes. */
  readonly on: Events["on"];
  /** Takes no more messages, lets running agents finish for up to `graceMs` (default 10 s), closes the files. The bots stay connected. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const UPKEEP_SLOTS = 4;
/** Handlers of commands at the same time. */
const COMMAND_SLOTS = 4;
const CLOSE_GRACE_MS = 10_000;

/**
 * Makes every part in order; nothing runs before `start`. Rejects with CONFIG_INVALID, which names all problems at once, or with STORE_CORRUPT or
 * STORE_UNREACHABLE, which name the file.
 */
export async function createSwitchboard(options: SwitchboardOptions): Promise<Switchboard> {
  const basics = createBasics(options);
  const services = createServices(basics, await openStore(options, basics));
  const doors = createDoors(services, options);
  const { config, queue, adapters, redactor, exactRedactor } = services;
  const { waiting, deadLetters, retry, dismiss } = services.undelivered;
  const working: { stop(graceMs: number): Promise<unknown> }[] = [];
  let closed: Promise<void> | undefined;

  function learnSecrets(): void {
    for (const secret of adapters.flatMap((adapter) => adapter.secrets?.() ?? [])) {
      redactor.register(secret);
      exactRedactor.register(secret);
    }
  }

  async function start(): Promise<void> {
    const { agentIds, owners } = services;
    const known = { channels: adapters.map(({ channel }) => channel), agentIds, owners };
    for (const warning of configWarnings(config, known)) services.logger.warn({}, warning);
    learnSecrets();
    const { maxConcurrent, subagents } = config.agents.defaults;
    working.push(await queue.work(AGENT_POOL, maxConcurrent, doors.execute));
    working.push(await queue.work(CHILD_POOL, subagents.maxConcurrent, doors.execute));
    working.push(await queue.work(UPKEEP_POOL, UPKEEP_SLOTS, doors.execute));
    working.push(
      await queue.work(COMMAND_POOL, COMMAND_SLOTS, createCommandHandler({ ...services, ...doors })),
    );
    working.push(await queue.work(OVERHEARD_POOL, 1, services.overheard.sweep));
    const outbox = { ...services, mask: (text: string) => exactRedactor.redact(text).text };
    working.push(startUnserved(adapters, outbox));
    for (const adapter of adapters) {
      working.push(startDeliveries(adapter, outbox));
      await adapter.start(createAdapterHost(adapter, { ...services, ...doors, onReady: learnSecrets }));
    }
  }

  async function close(graceMs: number): Promise<void> {
    // Whatever fails to stop, the files are closed.
    const stopped = [
      ...(await Promise.allSettled(adapters.map((adapter) => adapter.stop()))),
      ...(await Promise.allSettled(working.map((one) => one.stop(graceMs)))),
      ...(await Promise.allSettled([services.engine.close()])),
      ...(await Promise.allSettled([services.storage.flush()])),
    ];
    services.database.close();
    const failure = stopped.find((one) => one.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  return {
    start,
    gateway: doors.gateway,
    deliveries: { waiting, deadLetters, retry, dismiss },
    on: services.events.on,
    async tools(sessionKey) {
      const key = canonicalKey(sessionKey, services.names.defaultAgentId, services.names);
      const session = key === undefined ? undefined : await services.sessions.get(key);
      if (session !== undefined) return doors.toolsFor(session);
      throw new SwitchboardError(
        "SESSION_NOT_FOUND",
        `No session "${sessionKey}". See gateway.call("sessions.list").`,
      );
    },
    close: ({ graceMs = CLOSE_GRACE_MS } = {}) => {
      closed ??= close(graceMs);
      return closed;
    },
  };
}
