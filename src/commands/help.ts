import type { Command } from "./command.ts";
import { usageOf } from "./usage.ts";
import { localized } from "./words.ts";

/** `/help`: the commands that whoever asks may use, with their usage. */
export const help: Command = {
  spec: { name: "help", description: localized("help.description"), args: [], access: "anyone" },
  async run({ specs, origin, words, locale }) {
    const usable = specs.filter(({ access }) => access === "anyone" || origin.owner);
    const lines = usable.map((spec) => {
      const who = spec.access === "owner" ? ` (${words("help.ownerOnly")})` : "";
      return `- \`${usageOf(spec)}\`: ${spec.description[locale]}${who}`;
    });
    return { text: [words("help.title"), ...lines].join("\n") };
  },
};
