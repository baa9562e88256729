import { expect, it } from "vitest";
import { SwitchboardError } from "../src/core/errors.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { memoryAdapter } from "./fakes/memory-adapter.ts";

const main = { run: async () => ({ status: "ok" as const, reply: "ok" }) };

async function problemsOf(options: unknown): Promise<readonly unknown[]> {
  try {
    // What a JavaScript user may write; the types would refuse it.
    await createSwitchboard(options as never);
  } catch (error) {
    if (error instanceof SwitchboardError && error.code === "CONFIG_INVALID")
      return error.details.problems as [];
    throw error;
  }
  return [];
}

it.each([
  ["nothing", undefined, /agents: give at least one/],
  ["no agents", {}, /agents: give at least one/],
  ["a bare function as agent", { agents: { main: () => "hi" } }, /agents\.main: .*functionAgent/],
  ["an agent id in capitals", { agents: { Ops: main } }, /"Ops" is no agent id/],
  [
    "an option with a typing mistake",
    { agents: { main }, dataDirr: "x" },
    /"dataDirr" is no option; options: .*dataDir/,
  ],
  [
    "one adapter instead of a list",
    { agents: { main }, adapters: memoryAdapter("discord") },
    /adapters: give a list/,
  ],
  [
    "one owner instead of a list",
    { agents: { main }, owners: { discord: "803" } },
    /owners\.discord: give a list/,
  ],
  [
    "B04: two adapters with one account",
    { agents: { main }, adapters: [memoryAdapter("telegram"), memoryAdapter("telegram")] },
    /two for telegram, account "default".*accountId/,
  ],
  ["J07: everybody as owner", { agents: { main }, owners: { telegram: ["*"] } }, /owners\.telegram/],
])("createSwitchboard refuses %s and says what to write", async (_what, options, reason) => {
  const problems = await problemsOf(options);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(reason);
});

it("createSwitchboard names the problems of agents, owners and config together", async () => {
  const problems = await problemsOf({
    agents: { Main: main },
    owners: { telegram: ["@ann"] },
    config: { locale: "de", session: { dmScope: "x" } },
  });
  expect(problems).toHaveLength(4);
});
