import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ApiError } from "./api-error.ts";
import { FailurePlan } from "./failures.ts";
import { type Payload, readPayload } from "./payload.ts";

/** Performs one call: returns the result or throws ApiError. `gone` aborts when the client hangs up. */
export type Method = (payload: Payload, gone: AbortSignal) => unknown;

export interface Call {
  readonly method: string;
  readonly payload: Payload;
}

/** The HTTP side: `/bot<token>/<method>` on 127.0.0.1, with failures on demand and a record of the calls. */
export class ApiServer {
  readonly calls: Call[] = [];
  readonly failures = new FailurePlan();
  /** Methods that came with a later version. */
  readonly unknown = new Set<string>();
  readonly #token: string;
  readonly #methods: Readonly<Record<string, Method>>;
  readonly #onChange: () => void;
  readonly #http = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(new Error(String(error))));
  });

  constructor(options: { token: string; methods: Readonly<Record<string, Method>>; onChange: () => void }) {
    this.#token = options.token;
    this.#methods = options.methods;
    this.#onChange = options.onChange;
  }

  get url(): string {
    const address = this.#http.address();
    if (address === null || typeof address === "string")
      throw new Error("The Telegram stand-in is not listening.");
    return `http://127.0.0.1:${address.port}`;
  }

  async listen(port: number): Promise<void> {
    this.#http.listen(port, "127.0.0.1");
    await once(this.#http, "listening");
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    if (this.#http.listening) await new Promise((resolve) => this.#http.close(resolve));
  }

  async call(
    method: string,
    payload: Payload,
    gone: AbortSignal = new AbortController().signal,
  ): Promise<unknown> {
    this.#record(method, payload);
    const perform = this.unknown.has(method) ? undefined : this.#methods[method];
    if (!perform) throw new ApiError(404, "Not Found: method not found");
    try {
      return await perform(payload, gone);
    } finally {
      this.#onChange();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const [, token, method = ""] = url.pathname.match(/^\/bot([^/]+)\/(\w+)$/) ?? [];
    const payload = await readPayload(request, url);
    try {
      if (token !== this.#token) throw new ApiError(401, "Unauthorized");
      const result = await this.#callOrFail(method, payload, response, gone.signal);
      if (result !== undefined) reply(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, parameters } = error;
      reply(response, code, {
        ok: false,
        error_code: code,
        description: message,
        ...(parameters ? { parameters } : {}),
      });
    }
  }

  /** undefined: a planned failure has dealt with the response, or left it open. */
  async #callOrFail(
    method: string,
    payload: Payload,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<unknown> {
    const failure = this.failures.take(method);
    if (!failure) return this.call(method, payload, gone);
    if (failure.kind === "dropAfter") await this.call(method, payload, gone);
    else this.#record(method, payload);
    if (failure.kind === "error") throw failure.error;
    if (failure.kind === "badGateway") response.writeHead(502).end("<html>502 Bad Gateway</html>");
    if (failure.kind === "dropBefore" || failure.kind === "dropAfter") response.destroy();
    return undefined;
  }

  #record(method: string, payload: Payload): void {
    if (method !== "getUpdates") this.calls.push({ method, payload });
    this.#onChange();
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
