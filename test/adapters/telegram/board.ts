import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { aBoard, type Board, type BoardOptions } from "../../fakes/a-board.ts";
import { ANN } from "../../standins/telegram/people.ts";
import type { TestBot } from "./bot.ts";

/** Groups are answered without being asked by name. */
export const OPEN_GROUPS = { channels: { telegram: { requireMention: false } } };

/** A whole switchboard on this bot; Ann is its owner. */
export function aBoardOn({ adapter }: TestBot, options: BoardOptions = {}): Promise<Board> {
  return aBoard({
    adapters: [adapter],
    owners: { telegram: [String(ANN.id)] },
    config: OPEN_GROUPS,
    ...options,
  });
}

/** A web server that is closed with the test; its address. */
export async function aServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server is not listening.");
  return `http://127.0.0.1:${address.port}/`;
}
