import { z } from "zod";
import { KEY_UNITS } from "../limits.ts";
import { messageText } from "../message-text.ts";
import { sessionPatch } from "../session/patch.ts";

const target = { sessionKey: z.string().trim().min(1).max(KEY_UNITS) };
const message = messageText("message");
const text = z.string().trim().min(1).max(200).optional();

/** What each call takes; every problem is named at once. */
export const gatewayParams = {
  agent: z.strictObject({
    sessionKey: target.sessionKey.optional(),
    agentId: z.string().optional(),
    message,
    deliver: z.boolean().default(false),
    idempotencyKey: text,
    model: text,
    thinking: text,
    timeoutSeconds: z.number().int().min(0).max(86_400).optional(),
  }),
  /** Also the run of a sessions_send or sessions_spawn: the answer then carries the exchange that it began, with the state of its announce, or the task. */
  "agent.wait": z.strictObject({
    runId: z.string().min(1),
    timeoutSeconds: z.number().min(0).max(3600).default(30),
  }),
  "chat.send": z.strictObject({
    ...target,
    message,
    deliver: z.boolean().default(true),
    idempotencyKey: text,
  }),
  "chat.history": z.looseObject({}),
  "sessions.list": z.looseObject({}),
  "sessions.resolve": z.strictObject({
    key: z.string().optional(),
    sessionId: z.string().optional(),
    label: z.string().optional(),
    agentId: z.string().optional(),
  }),
  "sessions.patch": z.strictObject({ ...target, ...sessionPatch.shape }),
  "sessions.reset": z.strictObject(target),
  "sessions.delete": z.strictObject(target),
} as const;

export type GatewayMethod = keyof typeof gatewayParams;
export type GatewayParams<M extends GatewayMethod> = z.output<(typeof gatewayParams)[M]>;
