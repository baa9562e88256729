import { messageOf } from "../errors.ts";
import type { EventName, Events, SwitchboardEvents } from "../ports/events.ts";
import type { Logger } from "../ports/host.ts";

type Listener = (event: SwitchboardEvents[EventName]) => void;

/** Typed events of one process. */
export function createEvents(logger: Logger): Events {
  const listeners = new Map<EventName, Set<Listener>>();
  return {
    emit(name, event) {
      for (const listener of listeners.get(name) ?? []) {
        // An async listener counts as one that may fail later.
        Promise.resolve()
          .then(() => listener(event))
          .catch((error) =>
            logger.warn({ event: name, error: messageOf(error) }, "An event listener failed"),
          );
      }
    },
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      // The map is keyed by the event name, so a listener only ever gets its own event.
      const stored = listener as Listener;
      set.add(stored);
      return () => set.delete(stored);
    },
  };
}
