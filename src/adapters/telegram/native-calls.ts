import { LRUCache } from "lru-cache";
import type { AdapterHost, Address } from "../../core/ports/chat.ts";
import type { NativeCommandCall } from "../../core/ports/command.ts";
import type { TelegramEvent } from "./inbound.ts";
import { answerPress, endWaiting, type Press, toPress } from "./press.ts";
import type { Room } from "./send.ts";
import { answerWhisper, toWhisper, type Whisper } from "./whisper.ts";

interface Parts {
  roomAt(at: Address): Room;
  /** Runs work in its lane; a failure is logged there. */
  inTurn(lane: string, host: AdapterHost, work: () => Promise<void>): Promise<unknown>;
}

/**
 * Commands that are not messages of the chat: presses of buttons, and commands that only their sender and the bot see. They are not waited for: what the
 * person sees of it takes calls to Telegram, and the next update need not wait for them.
 */
export class NativeCalls {
  readonly #parts: Parts;
  /** Taps that need no second answer: under way, or on a message that looks different now. */
  readonly #taps = new LRUCache<string, true>({ max: 1000 });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether the update is one, of a command of ours. */
  take(event: TelegramEvent, host: AdapterHost): boolean {
    const isOurs = ({ call }: { readonly call: NativeCommandCall }) =>
      host.commands.some(({ name }) => name === call.name);
    const press = toPress(event);
    if (press && isOurs(press)) {
      this.#press(press, host);
      return true;
    }
    const whisper = toWhisper(event);
    if (!whisper || !isOurs(whisper)) return false;
    this.#answer(whisper, host);
    return true;
  }

  #press(press: Press, host: AdapterHost): void {
    const { room, call } = this.#now(press);
    const isSecond = this.#taps.has(press.tap);
    this.#taps.set(press.tap, true);
    void this.#parts.inTurn(`${call.from.chatId}/${press.messageId}`, host, async () => {
      if (isSecond) return endWaiting(press, undefined, host, room);
      const hasChanged = await answerPress({ ...press, call }, host, room);
      // On the message as it is the same button means something again.
      if (!hasChanged) this.#taps.delete(press.tap);
    });
  }

  #answer(whisper: Whisper, host: AdapterHost): void {
    const { room, call } = this.#now(whisper);
    const lane = `${call.from.chatId}/${call.sender.id}`;
    void this.#parts.inTurn(lane, host, () => answerWhisper({ ...whisper, call }, host, room));
  }

  /** The chat may have moved since. */
  #now({ call }: { readonly call: NativeCommandCall }) {
    const room = this.#parts.roomAt(call.from);
    return { room, call: { ...call, from: room.moves.resolve(call.from) } };
  }
}
