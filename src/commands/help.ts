import type { CommandSpec } from "../core/ports/command.ts";
import type { Command } from "./command.ts";
import { usageOf } from "./usage.ts";
import { localized, type MessageKey } from "./words.ts";

/** `/help`: the commands that exist, with their usage. */
export const help: Command = {
  spec: { name: "help", description: localized("help.description"), args: [], access: "anyone" },
  async run({ specs, words }) {
    const lines = specs.map((spec) => {
      const who = spec.access === "owner" ? ` (${words("help.ownerOnly")})` : "";
      return `- \`${usageOf(spec)}\`: ${words(descriptionKey(spec))}${who}`;
    });
    return { text: [words("help.title"), ...lines].join("\n") };
  },
};

/** Every command has its description under `<name>.description`; the catalogue test proves it. */
function descriptionKey(spec: CommandSpec): MessageKey {
  return `${spec.name}.description` as MessageKey;
}
