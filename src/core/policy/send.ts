import type { Config } from "../config.ts";
import type { Address, ChatType } from "../ports/chat.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { placeInKey, placeOf } from "../session/describe.ts";
import { partsOf, withoutAgent } from "../session/key.ts";

/** `rule` names for people what decided, e.g. "/send off" or "session.sendPolicy.rules[0]". */
export type SendDecision =
  | { readonly allowed: true; readonly rule: string }
  | { readonly allowed: false; readonly rule: string; readonly reason: string };

/** What the caller knows beside the session. */
export interface SendContext {
  /** Where the text goes, when that was fixed before (a delivery, a frozen origin). */
  readonly at?: Pick<Address, "channel" | "chatType">;
  /** The room around a thread or topic, the requester of a child: its override counts where the session has none. */
  readonly parent?: Pick<Session, "sendPolicy">;
  /** Keys of those who spawned it, at any depth: a child may not say where its requester may not. */
  readonly ancestors?: readonly SessionKey[];
}

type Rule = Config["session"]["sendPolicy"]["rules"][number];

interface Facts {
  /** Its own, and its requester's: a child may not say where its requester may not. */
  readonly keys: readonly SessionKey[];
  readonly channel?: string;
  readonly chatType?: ChatType;
}

/** Whether anything may leave this session: the override of /send, else the rules (a denial beats every permission), else the default. */
export function maySend(session: Session, config: Config, context: SendContext = {}): SendDecision {
  const override = session.sendPolicy ?? context.parent?.sendPolicy;
  if (override === "allow") return { allowed: true, rule: "/send on" };
  if (override === "deny") {
    return denied("/send off", "an owner can change that with /send on or /send inherit");
  }
  const { rules, default: otherwise } = config.session.sendPolicy;
  const facts = factsOf(session, context);
  const matching = rules.flatMap((rule, index) =>
    matches(rule, facts) ? [{ action: rule.action, name: `session.sendPolicy.rules[${index}]` }] : [],
  );
  const denial = matching.find(({ action }) => action === "deny");
  if (denial !== undefined) {
    return denied(denial.name, "an owner can make an exception for this session with /send on");
  }
  const [permission] = matching;
  if (permission !== undefined) return { allowed: true, rule: permission.name };
  const rule = "session.sendPolicy.default";
  if (otherwise === "allow") return { allowed: true, rule };
  return denied(rule, "an owner can make an exception for this session with /send on");
}

function denied(rule: string, remedy: string): SendDecision {
  return { allowed: false, rule, reason: `Nothing may be sent from this session (${rule}); ${remedy}.` };
}

/** A child without a place of its own speaks where its requester does. */
function factsOf(session: Session, { at, ancestors = [] }: SendContext): Facts {
  const { key, spawnedBy } = session;
  const requester = spawnedBy === undefined ? {} : placeInKey(partsOf(spawnedBy));
  const keys = spawnedBy === undefined ? [key] : [key, spawnedBy, ...ancestors];
  return { ...requester, ...placeOf(session), ...at, keys };
}

function matches({ match = {} }: Rule, { keys, channel, chatType }: Facts): boolean {
  return (
    (match.channel === undefined || isOneOf(match.channel, channel)) &&
    (match.chatType === undefined || isOneOf(match.chatType, chatType)) &&
    (match.keyPrefix === undefined || startsWithOneOf(match.keyPrefix, [...keys, ...keys.map(withoutAgent)]))
  );
}

function isOneOf(wanted: string | readonly string[], value: string | undefined): boolean {
  return [wanted].flat().some((one) => one.toLowerCase() === value?.toLowerCase());
}

function startsWithOneOf(prefixes: string | readonly string[], keys: readonly string[]): boolean {
  return [prefixes]
    .flat()
    .map((prefix) => prefix.trim().toLowerCase())
    .some((prefix) => prefix !== "" && keys.some((key) => key.toLowerCase().startsWith(prefix)));
}
