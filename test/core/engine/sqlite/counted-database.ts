import type { Database, Statement } from "../../../../src/core/engine/sqlite/database.ts";

/** The same database, with a record of what is asked of it. */
export function countedDatabase(
  database: Database,
): Database & { readonly asked: string[]; readonly prepared: string[] } {
  const asked: string[] = [];
  const prepared: string[] = [];
  return {
    ...database,
    asked,
    prepared,
    prepare(sql) {
      prepared.push(sql);
      const statement = database.prepare(sql);
      const counting: Statement = {
        get: (...values) => {
          asked.push(sql);
          return statement.get(...values);
        },
        all: (...values) => {
          asked.push(sql);
          return statement.all(...values);
        },
        run: (...values) => {
          asked.push(sql);
          return statement.run(...values);
        },
      };
      return counting;
    },
    transaction(work) {
      asked.push("BEGIN");
      return database.transaction(work);
    },
  };
}
