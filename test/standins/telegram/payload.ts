import type { IncomingMessage } from "node:http";

/** The parameters of one call: query string, JSON, form or multipart, merged. Files are named only. */
export type Payload = Readonly<Record<string, unknown>>;

export async function readPayload(request: IncomingMessage, url: URL): Promise<Payload> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const query = Object.fromEntries(url.searchParams);
  const type = request.headers["content-type"] ?? "";
  if (body.length === 0) return query;
  if (type.includes("json")) return { ...query, ...JSON.parse(body.toString("utf8")) };
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const fields = [...form].map(([key, value]) => [
    key,
    typeof value === "string" ? value : { file: value.name },
  ]);
  return { ...query, ...Object.fromEntries(fields) };
}

export function textOf(payload: Payload, key: string): string {
  const value = payload[key];
  return value === undefined ? "" : String(value);
}

/** A number that came as a number or as digits. */
export function numberOf(payload: Payload, key: string): number | undefined {
  const value = payload[key];
  if (value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A list or object that came as JSON or, in a form, as text that holds JSON. */
export function jsonOf(payload: Payload, key: string): unknown {
  const value = payload[key];
  return typeof value === "string" && value !== "" ? JSON.parse(value) : value;
}

export function recordOf(payload: Payload, key: string): Payload | undefined {
  const value = jsonOf(payload, key);
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}
