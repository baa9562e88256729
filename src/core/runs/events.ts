import { messageOf } from "../errors.ts";
import type { EventName, Events, SwitchboardEvents } from "../ports/events.ts";
import type { Json, Logger } from "../ports/host.ts";
import { everyText } from "../transcript/prompt.ts";

type Listener = (event: SwitchboardEvents[EventName]) => void;

/** Typed events of one process. A reason that a platform or a provider gave may hold a live secret, which is masked. */
export function createEvents(logger: Logger, mask: (text: string) => string): Events {
  const listeners = new Map<EventName, Set<Listener>>();
  return {
    emit(name, event) {
      const hearing = listeners.get(name);
      if (hearing === undefined) return;
      // Events are plain data and keep their shape.
      const safe = everyText(event as unknown as Json, mask) as unknown as typeof event;
      for (const listener of hearing) {
        // An async listener counts as one that may fail later.
        Promise.resolve()
          .then(() => listener(safe))
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
