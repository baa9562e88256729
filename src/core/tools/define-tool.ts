import { z } from "zod";
import { neutralizeMarkers } from "../announce/wording.ts";
import type { Config } from "../config.ts";
import { type ErrorCode, messageOf, SwitchboardError } from "../errors.ts";
import { PROBLEM_UNITS } from "../limits.ts";
import { inputCode } from "../message-text.ts";
import type { Clock, Json, Logger } from "../ports/host.ts";
import type { BoundTool, ToolOutput } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { RunContext } from "../runs/executor-parts.ts";
import { cutText } from "../transcript/limits.ts";
import { everyText } from "../transcript/prompt.ts";
import { rejection } from "./rejected-keys.ts";

/** Who calls: known from the run, never from a parameter. */
export interface Caller {
  readonly session: Session;
  readonly sandboxed: boolean;
  /** Within it a call id names one call: the id of the run, or of one mounting of the tools by the host. */
  readonly callScope: string;
  /** Absent when the host mounted the tools outside a run of ours. */
  readonly run?: RunContext;
  /** The host program itself (gateway): skips visibility, nothing else. */
  readonly trusted?: boolean;
}

export interface ToolCall {
  readonly callId: string;
  readonly signal: AbortSignal;
}

/** What a tool answers: the facts, always with the same names. */
export type Answer = { readonly [key: string]: unknown };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputJsonSchema: object;
  /** Parses, then runs. Never rejects: failures are answers. */
  call(input: unknown, caller: Caller, call: ToolCall): Promise<ToolOutput>;
}

export interface ToolDefinition<S extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly input: S;
  /** Whether this answer ends the run. */
  ends?(answer: Answer): boolean;
  run(input: z.output<S>, caller: Caller, call: ToolCall): Promise<Answer>;
}

/** Failures of ours whose sentences name files and other things that are no agent's business. */
const INWARD: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "STORE_CORRUPT", "STORE_UNREACHABLE"]);

export function defineTool<S extends z.ZodType>(definition: ToolDefinition<S>, logger: Logger): Tool {
  const { name, description, input } = definition;
  return {
    name,
    description,
    // Cloned: some frameworks refuse zod's own object because it carries `~standard`.
    inputJsonSchema: JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: "input" }))),
    async call(raw, caller, call) {
      const parsed = input.safeParse(raw ?? {});
      if (!parsed.success)
        return { value: failure(inputCode(parsed.error), inputProblems(name, input, parsed.error)) };
      try {
        const value = await definition.run(parsed.data, caller, call);
        return definition.ends?.(value) === true ? { value, ends: true } : { value };
      } catch (error) {
        return { value: failed(error, name, logger) };
      }
    },
  };
}

function failed(error: unknown, tool: string, logger: Logger): Answer {
  if (error instanceof SwitchboardError && !INWARD.has(error.code)) return failure(error.code, error.message);
  return failedWithin(error, tool, logger);
}

/** The reason is for the log alone. */
function failedWithin(error: unknown, tool: string, logger: Logger): Answer {
  const code = error instanceof SwitchboardError ? error.code : "INTERNAL";
  logger.error({ tool, error: messageOf(error) }, "A tool failed");
  return failure(code, `${tool} could not be carried out; the log of the bot says why.`);
}

/** The closed object of a tool's parameters. */
export function toolInput<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape);
}

/** A whole number: fractions are cut, values outside the range moved to its ends; anything but a number is an error. */
export function clamped(min: number, max: number, description: string) {
  return z
    .number()
    .transform((value) => Math.min(max, Math.max(min, Math.floor(value))))
    .describe(`${description} (${min}–${max})`);
}

/** An answer that says what was not done, and why. */
export type Refusal = Answer & { readonly code: ErrorCode };

export function failure(code: ErrorCode, error: string, more: Answer = {}): Refusal {
  return { status: "error", code, error, ...more };
}

export function forbidden(error: string, code: ErrorCode = "NOT_VISIBLE", more: Answer = {}): Answer {
  return { status: "forbidden", code, error, ...more };
}

/** What tools are bound with, beside the services that they use. */
export interface ToolBasics {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Who calls, as it is at the moment of the call, or why the call is not made. */
export type Standing = { readonly caller: Caller } | { readonly refusal: Answer };

/** What a tool is bound with. */
export interface Holding {
  /** Asked at every call: tools are kept, and what their holder may do changes. */
  standing(tool: string): Promise<Standing>;
  onCalled(tool: string, status: string): void;
  readonly trusted: boolean;
  readonly logger: Logger;
}

/** A tool as one caller holds it. What others wrote cannot pass for the runtime's own markers in its answers. */
export function bindTool(tool: Tool, holding: Holding): BoundTool {
  return {
    name: tool.name,
    description: tool.description,
    inputJsonSchema: tool.inputJsonSchema,
    async call(input, call) {
      const { value, ...rest } = await callAs(holding, tool, input, call);
      holding.onCalled(tool.name, typeof value.status === "string" ? value.status : "ok");
      if (holding.trusted) return { value, ...rest };
      // Answers are JSON, and an object stays one.
      return { value: everyText(value as Json, neutralizeMarkers) as Answer, ...rest };
    },
  };
}

async function callAs(
  { standing, logger }: Holding,
  tool: Tool,
  input: unknown,
  call: ToolCall,
): Promise<ToolOutput> {
  try {
    const now = await standing(tool.name);
    return "refusal" in now ? { value: now.refusal } : await tool.call(input, now.caller, call);
  } catch (error) {
    // Tools answer their own failures, so this is one of the standing: the store does not say who calls.
    return { value: failedWithin(error, tool.name, logger) };
  }
}

/** All of them at once; for keys that are no parameters the right way, and the parameters that there are. */
function inputProblems(tool: string, input: z.ZodType, error: z.ZodError): string {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => rejection(tool, key));
    return issue.path.length === 0 ? issue.message : `${issue.path.join(".")}: ${issue.message}`;
  });
  const unknown = error.issues.some(({ code }) => code === "unrecognized_keys");
  const names = input instanceof z.ZodObject ? Object.keys(input.shape) : [];
  const all = [...problems, ...(unknown ? [`parameters: ${names.join(", ") || "none"}`] : [])].join("; ");
  // What a model made up may be as long as it likes.
  return cutText(all, PROBLEM_UNITS).text;
}
