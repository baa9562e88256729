import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../src/core/ports/chat.ts";
import { aBoard, type Board } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("telegram", "group", "-100");
const MEMBER = { id: "7", name: "Mia", isBot: false };
/** A button whose message the answer replaces. */
const PRESSED = { from: ROOM, isPublic: true } as const;

async function says(board: Board, text: string, message: Partial<InboundMessage> = {}): Promise<void> {
  await board.telegram.says(text, message);
  await board.quiet();
}

async function aRoomAndADirectChat(): Promise<Board> {
  const board = await aBoard();
  await says(board, "my secret");
  await says(board, "hello", { from: ROOM, chatTitle: "Family" });
  return board;
}

describe("an answer that takes the place of a message in a room", () => {
  it.each(["sessions", "status", "pair", "deliveries"])(
    "CMD-4 CMD-3: to /%s says what a typed one says there, and one for the caller alone says all",
    async (name) => {
      const board = await aRoomAndADirectChat();
      await says(board, `/${name}`, { from: ROOM });
      const typed = board.telegram.sent.at(-1)?.text;
      expect(await board.telegram.calls(name, "", PRESSED)).toBe(typed);
      expect(typed).not.toContain("agent:");
      const alone = await board.telegram.calls(name, "", { from: ROOM });
      if (name === "sessions" || name === "status") expect(alone).toContain("agent:");
      if (name === "pair") expect(alone).not.toBe(typed);
    },
  );

  it("CMD-2: says nothing to a stranger, who is told so where nobody else sees it", async () => {
    const board = await aRoomAndADirectChat();
    expect(await board.telegram.calls("sessions", "", { ...PRESSED, sender: MEMBER })).toBeUndefined();
    expect(await board.telegram.calls("sessions", "", { from: ROOM, sender: MEMBER })).toMatch(
      /^Only the owner/,
    );
  });

  it("POL-2 CMD-4: follows the send policy, of which /send alone is free; what the caller alone sees does not", async () => {
    const board = await aRoomAndADirectChat();
    expect(await board.telegram.calls("agents", "", PRESSED)).toMatch(/^Agents:/);
    expect(await board.telegram.calls("send", "off", PRESSED)).toContain("Sending is off");
    expect(await board.telegram.calls("agents", "", PRESSED)).toBeUndefined();
    expect(await board.telegram.calls("agents", "", { from: ROOM })).toMatch(/^Agents:/);
    expect(await board.telegram.calls("send", "", PRESSED)).toContain("Sending is off");
    expect(await board.telegram.calls("send", "on", PRESSED)).toContain("Sending is on");
    expect(await board.telegram.calls("agents", "", PRESSED)).toMatch(/^Agents:/);
  });

  it("POL-2: follows it in a room without a session too", async () => {
    const deny = { action: "deny" as const, match: { chatType: "group" as const } };
    const board = await aBoard({ config: { session: { sendPolicy: { rules: [deny] } } } });
    expect(await board.telegram.calls("agents", "", PRESSED)).toBeUndefined();
    expect(await board.telegram.calls("agents", "")).toMatch(/^Agents:/);
  });
});
