const PLACE = "texts go where the target session, or the requester of a subagent, has its chat";
const THREAD = "a thread is part of the session key";
const REPLY = "replies are bound to the run, not to a message";
const CALLER = "who calls is known from the run";

/** Keys that models like to add, and where the matter is decided instead. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["channel", PLACE],
  ["to", PLACE],
  ["accountId", PLACE],
  ["transport", "the target session decides where texts go"],
  ["threadId", THREAD],
  ["thread_id", THREAD],
  ["replyTo", REPLY],
  ["reply_to", REPLY],
  ["agentSessionKey", CALLER],
  ["callerSessionKey", CALLER],
  ["requesterSessionKey", CALLER],
  ["sessionKeyOfCaller", CALLER],
  ["spawnedBy", CALLER],
]);

/** How one says with this tool what such a key was to say. */
const WAYS: ReadonlyMap<string, string> = new Map([
  ["sessions_list", "narrow the list with kinds, label, agentId or search"],
  ["sessions_history", "name the session to read with sessionKey"],
  ["sessions_send", "name the target with sessionKey, label or agentId; its answer returns to you"],
  [
    "sessions_spawn",
    "the result goes to whoever spawned it; announce says who hears of it, thread: true opens a thread",
  ],
  ["sessions_yield", "nothing is sent and nobody is named: what comes next comes by itself"],
  ["subagents", "name one of your subagents with target"],
  ["session_status", "name the session with sessionKey"],
  ["agents_list", "call it without parameters"],
]);

/** What a model reads about a key that is no parameter of this tool: why, where there is a reason, and the right way. */
export function rejection(tool: string, key: string): string {
  const advice = [REASONS.get(key), WAYS.get(tool)].filter((one) => one !== undefined).join("; ");
  return `"${key}" is not a parameter${advice === "" ? "" : ` (${advice})`}`;
}
