import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { createSwitchboard, functionAgent } from "bot-switchboard";
import { type WebchatMessage, webchatAdapter } from "bot-switchboard/webchat";

/**
 * A chat on your own web pages: the browser posts what a person writes, and hears answers as server-sent events, those that it missed first.
 * `personOf` tells from your own session who somebody is, never from what the page says.
 */
export async function startWebchat(personOf: (cookie: string | undefined) => string | undefined) {
  const shown = new Map<string, WebchatMessage[]>(); // your database, in earnest
  const pages = new Map<string, ServerResponse>();
  const webchat = webchatAdapter({
    async post(message) {
      const messages = shown.get(message.chatId) ?? [];
      if (!messages.some(({ id }) => id === message.id)) messages.push(message);
      shown.set(message.chatId, messages);
      pages.get(message.chatId)?.write(asEvent(message));
      return "posted";
    },
  });
  const board = await createSwitchboard({
    agents: { main: functionAgent(({ text }) => `You said: ${text}`) },
    adapters: [webchat],
    owners: { webchat: ["ann"] },
    config: { session: { dmScope: "per-peer" }, channels: { webchat: { dmPolicy: "open" } } },
  });
  await board.start();

  const server = createServer(async (request, response) => {
    const person = personOf(request.headers.cookie);
    if (person === undefined) {
      response.writeHead(401).end();
    } else if (request.method === "GET") {
      const seen = (shown.get(person) ?? []).findIndex(({ id }) => id === request.headers["last-event-id"]);
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      for (const missed of (shown.get(person) ?? []).slice(seen + 1)) response.write(asEvent(missed));
      pages.set(person, response);
      request.once("close", () => pages.delete(person));
    } else {
      const { id, text } = (await json(request)) as { id: string; text: string };
      const acceptance = await webchat.receive({ id, text, chatId: person, sender: { id: person } });
      response.writeHead(acceptance === "failed" ? 503 : 202).end();
    }
  });
  return { board, server };
}

function asEvent(message: WebchatMessage): string {
  return `id: ${message.id}\ndata: ${JSON.stringify(message)}\n\n`;
}
