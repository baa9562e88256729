import type { EventEmitter } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError, refuse } from "./api-error.ts";
import { errorOf, type Faults, rateLimitAnswer } from "./faults.ts";
import type { BotAccount, World } from "./world.ts";

/** One request, parsed. `params` are the groups of the route's pattern. */
export interface Call {
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Undefined only on routes that need no login. */
  readonly bot: BotAccount | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** Interaction answers carry their own token instead of the bot's. */
  readonly open?: boolean;
  readonly handle: (call: Call) => Answer;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

interface RestParts {
  readonly world: World;
  readonly routes: readonly Route[];
  readonly faults: Faults;
  readonly requests: RecordedRequest[];
  readonly events: EventEmitter;
}

/** REST v10: records every request, lets planned faults happen, checks the login, then asks the route. */
export function restListener(parts: RestParts): RequestListener {
  return (request, response) => {
    answer(parts, request, response)
      .catch((error) => reply(response, { status: 500, body: { message: String(error), code: 0 } }))
      .finally(() => parts.events.emit("change"));
  };
}

async function answer(parts: RestParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = request.method ?? "GET";
  const url = new URL(request.url ?? "/", "http://standin");
  const path = decodeURIComponent(url.pathname).replace(/^\/api(\/v\d+)?/, "");
  const body = await readBody(request);
  // Clients learn from the first answer which requests share a limit.
  response.setHeader("x-ratelimit-bucket", `${method} ${path.replaceAll(/\d{17,20}/g, ":id")}`);
  const { authorization } = request.headers;
  parts.requests.push({ method, path, body, authorization });
  parts.events.emit("change");

  const fault = parts.faults.take(method, path);
  if (fault?.kind === "hold") await fault.until;
  if (fault?.kind === "rateLimit") return reply(response, rateLimitAnswer(fault));
  if (fault?.kind === "status") return reply(response, refusal(errorOf(fault)));
  if (fault?.kind === "wall") return wall(response, fault.retryAfterSeconds);
  if (fault?.kind === "page") {
    return void response.writeHead(200, { "content-type": fault.type }).end("<p>Unexpected token</p>");
  }
  if (fault?.kind === "drop" && fault.when === "before") return void request.socket.destroy();
  if (request.socket.destroyed) return;
  const result = handle(parts, { method, path, query: url.searchParams, body, authorization });
  if (fault?.kind === "drop") return void request.socket.destroy();
  reply(response, result);
}

function handle(
  { world, routes }: RestParts,
  request: RecordedRequest & { readonly query: URLSearchParams },
): Answer {
  try {
    const route = routes.find(({ method, path }) => method === request.method && path.test(request.path));
    const bot = world.bots.find(({ token }) => request.authorization === `Bot ${token}`);
    if (!bot && !route?.open) throw refuse.unauthorized();
    if (!route) throw refuse.notFound();
    const params = route.path.exec(request.path)?.slice(1) ?? [];
    return route.handle({ params, query: request.query, body: request.body, bot });
  } catch (error) {
    if (error instanceof ApiError) return refusal(error);
    throw error;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.includes("json")) return JSON.parse(raw.toString());
  if (!type.includes("multipart")) return undefined;
  const form = await new Response(raw, { headers: { "content-type": type } }).formData();
  return JSON.parse(String(form.get("payload_json") ?? "{}"));
}

function refusal(error: ApiError): Answer {
  return { status: error.status, body: error };
}

function wall(response: ServerResponse, retryAfterSeconds: number | undefined): void {
  response.removeHeader("x-ratelimit-bucket");
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  response.writeHead(429, { "content-type": "text/html", ...retry }).end("error code: 1015");
}

/** A 204 must not announce a content type, or clients try to parse the nothing that follows. */
function reply(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.destroyed) return;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
