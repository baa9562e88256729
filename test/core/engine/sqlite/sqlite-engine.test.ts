import { runQueueContract } from "../../../contracts/run-queue.contract.ts";
import { runQueueProcessesContract } from "../../../contracts/run-queue-processes.contract.ts";
import { sqliteHarness } from "./sqlite-harness.ts";

runQueueContract("SQLite", sqliteHarness);
runQueueProcessesContract("SQLite", sqliteHarness);
