import type { SessionIds } from "../engine/sqlite/session-ids.ts";
import type { WriteCarrier } from "../engine/sqlite/write-carrier.ts";
import { messageOf } from "../errors.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Change, SessionIndex, Storage, Tables, Write } from "../ports/storage.ts";
import { createJsonlMirror } from "./jsonl-mirror.ts";
import { createRecords } from "./records.ts";
import { createTranscripts } from "./transcripts.ts";
import type { Values } from "./values.ts";

/** Storage whose writes can also be a part of the queue's transaction. */
export interface CarryingStorage extends Storage, WriteCarrier {
  /** Resolves when the mirror files have everything that was written before the call. */
  flush(): Promise<void>;
}

/** How a store changes: what differs between the embedded one and any Keyv. */
export interface Changes {
  update<T extends keyof Tables>(
    table: T,
    key: string,
    change: Change<Tables[T]>,
  ): Promise<Tables[T] | undefined>;
  apply(writes: readonly Write[]): Promise<void>;
}

export interface MirrorOptions {
  /** Folder of the JSONL mirror; absent = no mirror. */
  readonly mirrorDir?: string;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "warn">;
}

/** A crash leaves the mirrors of the sessions behind that were written last. */
const checkedAtStart = 50;

/** Puts the parts together and keeps the mirror, where there is one, in step with them. */
export function createStorage(
  parts: {
    readonly values: Values;
    readonly index: SessionIndex & { readonly ids: SessionIds };
    readonly changes: Changes;
  },
  { mirrorDir, clock, logger }: MirrorOptions,
): Storage & Pick<CarryingStorage, "committed" | "flush"> {
  const { values, index, changes } = parts;
  const transcripts = createTranscripts(values);
  const mirror =
    mirrorDir === undefined
      ? undefined
      : createJsonlMirror({ folder: mirrorDir, transcripts, clock, logger });
  const checked = mirror ? checkNewest(index, mirror.check, logger) : Promise.resolve();

  const committed = (writes: readonly Write[]): void => {
    for (const write of writes) if (write.type === "turn") mirror?.written(write);
  };
  return {
    records: (table) => createRecords(table, values, (key, change) => changes.update(table, key, change)),
    transcripts: {
      info: transcripts.info,
      page: transcripts.page,
      async delete(sessionId) {
        await transcripts.delete(sessionId);
        index.ids.remove(sessionId);
        mirror?.check(sessionId);
      },
    },
    index,
    async apply(writes) {
      await changes.apply(writes);
      committed(writes);
    },
    committed,
    transcriptPath: (sessionId) => mirror?.path(sessionId),
    async flush() {
      await checked;
      await mirror?.flush();
    },
  };
}

async function checkNewest(
  index: SessionIndex,
  check: (sessionId: string) => void,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const scope = { agentIds: "all", keys: [] } as const;
  try {
    const { rows } = await index.list({ scope, archived: false, offset: 0, limit: checkedAtStart });
    for (const { session } of rows) check(session.sessionId);
  } catch (error) {
    logger.warn({ error: messageOf(error) }, "The newest transcript mirrors were not checked.");
  }
}
