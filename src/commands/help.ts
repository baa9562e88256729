import type { Command } from "./command.ts";
import { usageOf } from "./usage.ts";
import { localized } from "./words.ts";

/** `/help`: the commands that exist, with their usage. */
export const help: Command = {
  spec: { name: "help", description: localized("help.description"), args: [], access: "anyone" },
  async run({ specs, words, locale }) {
    const lines = specs.map((spec) => {
      const who = spec.access === "owner" ? ` (${words("help.ownerOnly")})` : "";
      return `- \`${usageOf(spec)}\`: ${spec.description[locale]}${who}`;
    });
    return { text: [words("help.title"), ...lines].join("\n") };
  },
};
