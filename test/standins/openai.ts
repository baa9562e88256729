import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** One request of a model call, as the provider's SDK sent it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: object } }[];
  readonly temperature?: number;
  readonly reasoning_effort?: string;
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** A call as the model writes it; a string stands as it is, so that it need not be JSON. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly input: object | string;
}

export interface ModelAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ModelCall[];
  /** Default: what fits the answer. */
  readonly finish?: string;
  /** [prompt, completion, cached] tokens; absent = the provider counts nothing. */
  readonly tokens?: readonly [number, number, number?];
}

/** A refusal. `retryAfterMs` tells the SDK how long to wait, so that tests do not. */
export interface ProviderFailure {
  readonly status: number;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** "hang": the request is taken and never answered. */
export type ScriptedAnswer = ModelAnswer | ProviderFailure | "hang";

export interface OpenAiStandIn {
  readonly baseURL: string;
  readonly requests: readonly ChatRequest[];
  /** What comes next; a request beyond it is refused with 400. */
  answers(...next: readonly ScriptedAnswer[]): void;
  /** Resolves when this many requests have come in. */
  requested(count: number): Promise<void>;
  /** Resolves when a client has given up on a hanging request. */
  hungUp(): Promise<void>;
}

/** The name under which it answers, whatever model was asked for. */
export const SERVED_MODEL = "stand-in-1-2026";

/** An OpenAI-compatible server on 127.0.0.1 that answers chat completions by a script, without streaming. Closed with the test. */
export async function openAiStandIn(): Promise<OpenAiStandIn> {
  const requests: ChatRequest[] = [];
  const script: ScriptedAnswer[] = [];
  const changed = new EventTarget();
  let left = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(JSON.parse(await bodyOf(request)));
    const next = script.shift() ?? { status: 400, message: "The script has no further answer." };
    if (next === "hang") response.on("close", () => tell(() => left++));
    else answer(response, next);
    tell();
  }
  const tell = (change = () => {}) => {
    change();
    changed.dispatchEvent(new Event("change"));
  };
  const until = async (condition: () => boolean) => {
    while (!condition()) await once(changed, "change");
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(new Error(String(error))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The stand-in is not listening.");

  return {
    baseURL: `http://127.0.0.1:${address.port}/v1`,
    requests,
    answers: (...next) => script.push(...next),
    requested: (count) => until(() => requests.length >= count),
    hungUp: () => until(() => left > 0),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function answer(response: ServerResponse, next: ModelAnswer | ProviderFailure): void {
  const headers = { "content-type": "application/json" };
  if ("status" in next) {
    const wait = next.retryAfterMs === undefined ? {} : { "retry-after-ms": String(next.retryAfterMs) };
    const error = { message: next.message, type: "error", code: next.status };
    response.writeHead(next.status, { ...headers, ...wait }).end(JSON.stringify({ error }));
    return;
  }
  response.writeHead(200, headers).end(JSON.stringify(completion(next)));
}

function completion({ text, reasoning, calls, finish, tokens }: ModelAnswer): object {
  const toolCalls = calls?.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
  }));
  const message = {
    role: "assistant",
    content: text ?? null,
    reasoning_content: reasoning,
    tool_calls: toolCalls,
  };
  const [prompt = 0, completed = 0, cached] = tokens ?? [];
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completed,
    total_tokens: prompt + completed,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  };
  return {
    id: "completion-1",
    object: "chat.completion",
    created: 1_790_000_000,
    model: SERVED_MODEL,
    choices: [{ index: 0, message, finish_reason: finish ?? (calls === undefined ? "stop" : "tool_calls") }],
    ...(tokens === undefined ? {} : { usage }),
  };
}
