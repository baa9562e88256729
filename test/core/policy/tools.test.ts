import { expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { matchesPattern } from "../../../src/core/policy/pattern.ts";
import { allowedTools } from "../../../src/core/policy/tools.ts";
import { configOf } from "../session/a-session.ts";

const every = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "session_status",
  "subagents",
  "agents_list",
];
const messaging = ["sessions_list", "sessions_history", "sessions_send", "session_status"];

function allowed(tools: ConfigInput["tools"], agentTools: object = {}, depth = 0): readonly string[] {
  const config = configOf({ tools, agents: { list: [{ id: "ops", tools: agentTools }] } });
  return allowedTools(every, config, "ops", { depth });
}

it.each<[string, ConfigInput["tools"], string[]]>([
  ["coding by default", {}, every],
  ["full", { profile: "full" }, every],
  ["messaging", { profile: "messaging" }, messaging],
  ["minimal", { profile: "minimal" }, ["session_status"]],
  [
    "alsoAllow adds to the profile",
    { profile: "minimal", alsoAllow: ["sessions_list"] },
    ["sessions_list", "session_status"],
  ],
  ["alsoAllow the group", { profile: "minimal", alsoAllow: ["group:sessions"] }, every],
  ["allow removes the rest", { allow: ["sessions_l*"] }, ["sessions_list"]],
  ["allow cannot add to the profile", { profile: "minimal", allow: ["*"] }, ["session_status"]],
  ["an empty allow allows all", { profile: "messaging", allow: [] }, messaging],
  ["a blank allow allows nothing", { allow: ["  "] }, []],
  ["deny beats allow", { allow: ["*"], deny: ["SESSIONS_*", "subagents"] }, ["session_status"]],
  [
    "deny beats alsoAllow",
    { profile: "minimal", alsoAllow: ["subagents"], deny: ["sub*"] },
    ["session_status"],
  ],
  ["deny the group", { deny: ["Group:Sessions"] }, []],
  [
    "agents_list comes with sessions_spawn",
    { profile: "minimal", alsoAllow: ["sessions_spawn"] },
    ["sessions_spawn", "session_status", "agents_list"],
  ],
  [
    "agents_list goes with sessions_spawn",
    { deny: ["sessions_spawn"] },
    every.filter((name) => !["sessions_spawn", "agents_list"].includes(name)),
  ],
  ["agents_list can be denied alone", { deny: ["agents_list"] }, every.slice(0, -1)],
])("TOOLS: %s", (_, tools, expected) => {
  expect(allowed(tools)).toEqual(expected);
});

it("TOOLS: an agent's lists can only remove, and only for that agent", () => {
  expect(allowed({ profile: "messaging" }, { allow: ["*"] })).toEqual(messaging);
  expect(allowed({}, { allow: ["group:sessions"], deny: ["sessions_send"] })).not.toContain("sessions_send");
  const config = configOf({ agents: { list: [{ id: "ops", tools: { deny: ["*"] } }] } });
  expect(allowedTools(every, config, "main", { depth: 0 })).toEqual(every);
  expect(allowedTools(every, config, "ops", { depth: 0 })).toEqual([]);
});

it("TOOLS: a subagent has no session tools, whatever is allowed; a host's own tool stays", () => {
  expect(allowed({ profile: "full", allow: ["*"] }, {}, 1)).toEqual([]);
  expect(
    allowedTools(["weather", ...every], configOf({ tools: { profile: "full" } }), "ops", { depth: 2 }),
  ).toEqual(["weather"]);
});

it.each([
  ["*", "anything", true],
  ["*", "", true],
  ["", "", false],
  ["  ", "x", false],
  ["ops", "OPS", true],
  ["ops", "ops2", false],
  ["ops*", "ops2", true],
  ["*ops", "devops", true],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["ab*bc", "abc", false],
  ["a*bc*bc", "abc", false],
  ["**", "x", true],
  ["a.c", "abc", false],
  ["a+(", "a+(", true],
])("TOOLS VIS-3: the pattern %j fits %j: %s", (pattern, text, fits) => {
  expect(matchesPattern(pattern, text)).toBe(fits);
});
