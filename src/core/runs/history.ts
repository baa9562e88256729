import { type Config, channelConfig } from "../config.ts";
import type { TranscriptEntry } from "../ports/run.ts";
import type { Storage } from "../ports/storage.ts";
import { promptSized } from "../transcript/prompt-size.ts";
import { readRecent } from "../transcript/recent.ts";
import { historyWindow, withoutOldTalk } from "../transcript/window.ts";

/** The rows of a session id before `beforeSeq` that an agent is given, oldest first, within agents.defaults.history. Text is as it was stored. */
export async function historyBefore(
  sessionId: string,
  beforeSeq: number,
  { config, storage }: { readonly config: Config; readonly storage: Storage },
): Promise<readonly TranscriptEntry[]> {
  const { maxEntries, maxBytes } = config.agents.defaults.history;
  const mostTalk = (channel: string) => channelConfig(config, channel).groupContext;
  const at = { beforeSeq, limit: maxEntries };
  const rows = await readRecent(storage.transcripts, sessionId, at, (entries) =>
    withoutOldTalk(entries, mostTalk),
  );
  return historyWindow(rows.map(promptSized), { maxEntries, maxBytes });
}
