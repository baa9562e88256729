import { LRUCache } from "lru-cache";
import type { Clock } from "../../core/ports/host.ts";
import type { Link } from "./link.ts";
import type { GroupInfo, GroupUpdate, WhatsAppEvents } from "./socket.ts";

/** Changes are told by events; this is how long one that got lost can matter. */
const FRESH_FOR_MS = 5 * 60_000;
const MOST_GROUPS = 1000;

interface Known {
  readonly info: GroupInfo;
  /** Until then the title holds. */
  readonly freshUntilMs: number;
  /** Who is in it may have changed: not to be encrypted for any more. */
  readonly membersChanged: boolean;
}

/** What is known of the account's groups: asked for at most once in five minutes, and kept up to date by events. */
export class Groups {
  readonly #clock: Clock;
  readonly #known = new LRUCache<string, Known>({ max: MOST_GROUPS });
  readonly #asked = new Map<string, Promise<GroupInfo | undefined>>();
  #isListening = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Listens on a socket; the returned function ends that. */
  listen({ socket: { ev } }: Link): () => void {
    const onUpdate = (updates: readonly GroupUpdate[]) => {
      for (const update of updates) this.#update(update);
    };
    const onMembers = ({ id }: WhatsAppEvents["group-participants.update"]) => this.forgetMembers(id);
    // What changed while nobody listened is not known.
    for (const jid of [...this.#known.keys()]) this.forgetMembers(jid);
    this.#isListening = true;
    ev.on("groups.upsert", onUpdate);
    ev.on("groups.update", onUpdate);
    ev.on("group-participants.update", onMembers);
    return () => {
      this.#isListening = false;
      ev.off("groups.upsert", onUpdate);
      ev.off("groups.update", onUpdate);
      ev.off("group-participants.update", onMembers);
    };
  }

  /** The last one known, if the server does not tell it now. */
  async title(jid: string, link: Link): Promise<string | undefined> {
    const known = this.#known.get(jid);
    if (known && this.#isFresh(known)) return known.info.subject;
    return ((await this.#ask(jid, link)) ?? known?.info)?.subject;
  }

  /** Everything that the server tells about a group, as Baileys wants it before each message to it; nothing while nobody hears of changes. */
  async metadata(jid: string, link: Link | undefined): Promise<GroupInfo | undefined> {
    if (!this.#isListening) return undefined;
    const known = this.#known.get(jid);
    if (known && !known.membersChanged && this.#isFresh(known)) return known.info;
    return link && this.#ask(jid, link);
  }

  /** To be called when a message to the group was refused, too: it may have been encrypted for the wrong people. */
  forgetMembers(jid: string): void {
    // What is being answered now may be from before.
    this.#asked.delete(jid);
    const known = this.#known.get(jid);
    if (known) this.#known.set(jid, { ...known, membersChanged: true });
  }

  #isFresh({ freshUntilMs }: Known): boolean {
    return this.#clock.now() < freshUntilMs;
  }

  #update(update: GroupUpdate): void {
    const known = update.id === undefined ? undefined : this.#known.get(update.id);
    if (known && update.id) this.#known.set(update.id, { ...known, info: { ...known.info, ...update } });
  }

  #ask(jid: string, link: Link): Promise<GroupInfo | undefined> {
    const asked = this.#asked.get(jid);
    if (asked) return asked;
    const asking = link.group(jid).then((info) => {
      if (this.#asked.get(jid) !== asking) return info;
      this.#asked.delete(jid);
      const freshUntilMs = this.#clock.now() + FRESH_FOR_MS;
      if (info) this.#known.set(jid, { info, freshUntilMs, membersChanged: false });
      return info;
    });
    this.#asked.set(jid, asking);
    return asking;
  }
}
