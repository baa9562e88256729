import { onTestFinished } from "vitest";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import type { Session } from "../../src/core/ports/session.ts";
import type { Write } from "../../src/core/ports/storage.ts";
import { createBasics, type SwitchboardOptions } from "../../src/options.ts";
import { createDoors, createServices, openStore } from "../../src/wiring.ts";
import { aFolder } from "./a-board.ts";
import type { Answer } from "./asking.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { dumpOf, sessionWrite } from "./store-files.ts";

/** The real parts of a switchboard under one config, put together as always. */
export interface Seat {
  /** Calls a tool for a session, as a loop of the host's would. */
  use(session: Session, tool: string, input?: object): Promise<Answer>;
  readonly gateway: ReturnType<typeof createDoors>["gateway"];
}

/** One store, and seats of any config at it. Nobody works: what is sent stays queued. */
export interface Desk {
  seat(config: ConfigInput): Seat;
  /** Everything that is stored now. */
  dump(): string;
}

/** Closed with the test, or with `close`. */
export async function aDesk(
  sessions: readonly Session[],
  writes: readonly Write[],
  options: { readonly agentIds: readonly string[]; readonly clock?: FakeClock },
): Promise<Desk & { close(): Promise<void> }> {
  const agents = Object.fromEntries(options.agentIds.map((id) => [id, scriptedAgent(() => "ok")]));
  const all: SwitchboardOptions = {
    agents,
    clock: options.clock ?? fakeClock(),
    dataDir: aFolder(),
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  };
  const store = await openStore(all, createBasics(all));
  await store.storage.apply([...sessions.map(sessionWrite), ...writes]);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await store.engine.close();
    await store.storage.flush();
    store.database.close();
  };
  onTestFinished(close);
  let calls = 0;
  return {
    close,
    dump: () => dumpOf(store.database),
    seat(config) {
      const doors = createDoors(createServices(createBasics({ ...all, config }), store), all);
      return {
        gateway: doors.gateway,
        async use(session, tool, input = {}) {
          const bound = (await doors.toolsFor(session)).find(({ name }) => name === tool);
          if (bound === undefined) throw new Error(`${tool} is not bound for ${session.key}.`);
          calls += 1;
          const call = { callId: `call-${calls}`, signal: new AbortController().signal };
          return (await bound.call(input, call)).value;
        },
      };
    },
  };
}
