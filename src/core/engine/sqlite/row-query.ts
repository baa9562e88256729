import type { RowQuery } from "../../ports/storage.ts";
import type { SqlValue } from "./database.ts";

export interface RowStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * The ids and revisions of one page and one row more, newest first, then by key; undefined when the scope is empty. Lists go into
 * one parameter each, so that there are few different texts. The index is named because the planner, without statistics, would
 * walk all rows for a label or a few keys.
 */
export function rowStatement(query: RowQuery): RowStatement | undefined {
  const { agentIds, keys } = query.scope;
  const inScope = scopeCondition(agentIds, keys);
  if (!inScope) return undefined;
  const conditions: Condition[] = [
    ["archived = ?", query.archived ? 1 : 0],
    ...inScope,
    ...when(query.kinds, (kinds) => ["kind IN (SELECT value FROM json_each(?))", JSON.stringify(kinds)]),
    ...when(query.agentId, (agentId) => ["agent_id = ?", agentId]),
    ...when(query.label, (label) => ["label = ?", label.normalize("NFC")]),
    ...when(query.search, (search) => ["instr(search, ?) > 0", searchForm(search)]),
    ...when(query.activeSinceMs, (since) => ["updated_at >= ?", since]),
  ];
  const where = conditions.map(([sql]) => sql).join(" AND ");
  return {
    sql:
      `SELECT id, revision FROM session_index INDEXED BY ${indexFor(query)} WHERE ${where} ` +
      "ORDER BY updated_at DESC, key LIMIT ? OFFSET ?",
    values: [...conditions.flatMap(([, ...values]) => values), query.limit + 1, query.offset],
  };
}

/** Text as it is looked for: without case, and letters with their accents in one form. */
export function searchForm(text: string): string {
  return text.toLowerCase().normalize("NFC");
}

type Condition = readonly [sql: string, ...values: SqlValue[]];

function when<T>(given: T | undefined, condition: (value: T) => Condition): Condition[] {
  return given === undefined ? [] : [condition(given)];
}

function scopeCondition(
  agentIds: RowQuery["scope"]["agentIds"],
  keys: readonly string[],
): Condition[] | undefined {
  if (agentIds === "all") return [];
  const ofAgents = "agent_id IN (SELECT value FROM json_each(?))";
  const amongKeys = "key IN (SELECT value FROM json_each(?))";
  if (agentIds.length === 0 && keys.length === 0) return undefined;
  if (agentIds.length === 0) return [[amongKeys, JSON.stringify(keys)]];
  if (keys.length === 0) return [[ofAgents, JSON.stringify(agentIds)]];
  return [[`(${ofAgents} OR ${amongKeys})`, JSON.stringify(agentIds), JSON.stringify(keys)]];
}

function indexFor({ label, scope }: RowQuery): string {
  if (label !== undefined) return "session_index_label";
  return scope.agentIds !== "all" && scope.agentIds.length === 0
    ? "session_index_key"
    : "session_index_newest";
}
