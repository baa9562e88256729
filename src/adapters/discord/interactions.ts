import type { Interaction } from "discord.js";
import { commandBehind } from "./buttons.ts";
import type { CallContext } from "./caller.ts";
import { answerCall, argumentText } from "./command-call.ts";
import type { Menu } from "./menu.ts";
import { suggest } from "./suggestions.ts";

/** Answers our commands, what is typed into them, and our buttons; everything else is the host's. Never rejects. */
export async function answerInteraction(
  interaction: Interaction,
  menu: Menu,
  context: CallContext,
): Promise<void> {
  if (interaction.isButton()) {
    const command = commandBehind(interaction.customId);
    return command && answerCall(interaction, command, context);
  }
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return;
  const { host } = context;
  const spec = host.commands.find(({ name }) => name === interaction.commandName);
  if (!host.showMenus || !spec || !(await menu.isOurs(interaction))) return;
  if (interaction.isAutocomplete()) return suggest(interaction, context);
  return answerCall(interaction, { name: spec.name, text: argumentText(interaction, spec) }, context);
}
