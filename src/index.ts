export { type AgentAnswer, type FunctionRequest, functionAgent } from "./agents/function-agent.ts";
export { commandSpecs } from "./commands/catalogue.ts";
export type { ConfigInput } from "./core/config.ts";
export type { DeadLetterView, Found, Look, WaitingView } from "./core/delivery/undelivered.ts";
export { type DeliveryFailure, deliveryFailed, type ErrorCode, SwitchboardError } from "./core/errors.ts";
export type { Gateway, GatewayMethod } from "./core/gateway.ts";
export type {
  Acceptance,
  AdapterHost,
  Address,
  Attachment,
  ChannelAdapter,
  ChatType,
  DeliveryReceipt,
  InboundMessage,
  MessageChange,
  OutboundMessage,
  QuotedText,
  Sender,
} from "./core/ports/chat.ts";
export type {
  Choice,
  CommandArgument,
  CommandReply,
  CommandSpec,
  Completion,
  CompletionCall,
  Locale,
  Localized,
  NativeCommandCall,
} from "./core/ports/command.ts";
export type { EventName, SwitchboardEvents } from "./core/ports/events.ts";
export type { Clock, Json, Logger } from "./core/ports/host.ts";
export type {
  AgentRunner,
  Block,
  BoundTool,
  NewEntry,
  Provenance,
  RunOutcome,
  RunRequest,
  RunTrigger,
  ToolOutput,
  TranscriptEntry,
} from "./core/ports/run.ts";
export type { RunStatus, SendOverride, Session, SessionKey, Usage } from "./core/ports/session.ts";
export type { SwitchboardOptions } from "./options.ts";
export { createSwitchboard, type Switchboard } from "./switchboard.ts";
