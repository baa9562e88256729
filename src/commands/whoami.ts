import type { Command } from "./command.ts";
import { localized } from "./words.ts";

/** `/whoami`: the id to put into `owners`, and whether it is there. */
export const whoami: Command = {
  spec: { name: "whoami", description: localized("whoami.description"), args: [], access: "anyone" },
  async run({ call, origin, words }) {
    const { sender, from } = call;
    // WhatsApp hides phone numbers from the members of a group.
    const shown = [sender.id, ...(sender.altIds ?? [])].filter(
      (id) => from.chatType === "direct" || !id.startsWith("+"),
    );
    const ids = shown.map((id) => `\`${id}\``).join(", ") || "–";
    const lines = [
      words("whoami.id", { channel: from.channel, id: ids }),
      words(origin.owner ? "whoami.owner" : "whoami.notOwner"),
    ];
    return { text: lines.join("\n") };
  },
};
