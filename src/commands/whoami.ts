import type { Command } from "./command.ts";
import { localized } from "./words.ts";

/** `/whoami`: the id to put into `owners`, and whether it is there. */
export const whoami: Command = {
  spec: { name: "whoami", description: localized("whoami.description"), args: [], access: "anyone" },
  async run({ call, origin, words }) {
    const { sender, from } = call;
    const ids = [sender.id, ...(sender.altIds ?? [])].map((id) => `\`${id}\``).join(", ");
    const lines = [
      words("whoami.id", { channel: from.channel, id: ids }),
      words(origin.owner ? "whoami.owner" : "whoami.notOwner"),
    ];
    return { text: lines.join("\n") };
  },
};
