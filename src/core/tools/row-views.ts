import type { Session } from "../ports/session.ts";
import type { Row } from "../ports/storage.ts";
import { type PublicRow, publicRow, type RowNow, type Viewer } from "../session/row.ts";

/** A row as it is shown, and the UTF-8 size of its JSON. */
export interface RowView {
  readonly row: PublicRow;
  readonly bytes: number;
}

interface Remembered extends RowView {
  readonly agentId: string;
  readonly trusted: boolean;
  readonly secrets: number;
}

/**
 * Rows for viewers, made once for as long as the index keeps the session: most rows of a list have not changed since the last one. A row that runs or
 * has children now is made anew.
 */
export function createRowViews(): (row: Row, viewer: Viewer, now: RowNow) => RowView {
  const known = new WeakMap<Session, Remembered>();
  return (row, viewer, now) => {
    if (now.running || now.children.length > 0) return viewOf(row, viewer, now);
    const last = known.get(row.session);
    const { agentId, trusted } = viewer;
    const secrets = viewer.redactor.size();
    if (last?.agentId === agentId && last.trusted === trusted && last.secrets === secrets) return last;
    const made = { ...viewOf(row, viewer, now), agentId, trusted, secrets };
    known.set(row.session, made);
    return made;
  };
}

function viewOf(row: Row, viewer: Viewer, now: RowNow): RowView {
  const json = JSON.stringify(publicRow(row, viewer, now));
  // Parsed again, a row has a plain shape, which is several times as fast to copy and to write.
  return { row: JSON.parse(json), bytes: Buffer.byteLength(json) };
}
