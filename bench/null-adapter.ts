import type { AdapterHost, Address, ChannelAdapter } from "../src/core/ports/chat.ts";

/** A platform that takes everything at once and keeps nothing but a count. */
export interface NullAdapter extends ChannelAdapter {
  sent(): number;
  says(text: string, from: Address, id: string): Promise<unknown>;
}

export function nullAdapter(channel: string): NullAdapter {
  let host: AdapterHost | undefined;
  let sent = 0;
  return {
    channel,
    accountId: "default",
    maxTextLength: 2000,
    repeatableForMs: 0,
    async start(given) {
      host = given;
    },
    async stop() {
      host = undefined;
    },
    async send() {
      sent += 1;
      return { messageIds: [String(sent)] };
    },
    sent: () => sent,
    async says(text, from, id) {
      const sender = { id: "1001", isBot: false };
      return host?.onMessage({ id, from, sender, text, addressed: true, sentAtMs: Date.now() });
    },
  };
}
