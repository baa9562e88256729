import type { ChatInputCommandInteraction } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import type { AdapterHost, Address } from "../../core/ports/chat.ts";
import type { CommandSpec } from "../../core/ports/command.ts";
import { senderOf, toAddress } from "./inbound.ts";
import { renderDiscord } from "./outbound.ts";
import { noMentions } from "./send.ts";

export interface CommandContext {
  readonly spec: CommandSpec;
  readonly host: AdapterHost;
  readonly accountId: string;
  readonly maxTextLength: number;
}

const ephemeral = 64;
const failureText = "Something went wrong. Try again; the log of the bot says more.";

/**
 * Acknowledges the call at once (Discord waits three seconds), lets the core carry it out, and shows the answer to the
 * caller alone. A call that cannot be acknowledged is not carried out. Never rejects.
 */
export async function answerCommand(
  interaction: ChatInputCommandInteraction,
  context: CommandContext,
): Promise<void> {
  const { logger } = context.host;
  const details = (error: unknown) => ({ command: interaction.commandName, error: messageOf(error) });
  try {
    await interaction.deferReply({ flags: ephemeral });
  } catch (error) {
    logger.warn(details(error), "A command could not be acknowledged, so it was not carried out.");
    return;
  }
  const answer = await carryOut(interaction, context).catch((error) => {
    logger.error(details(error), "A command failed.");
    return failureText;
  });
  await show(interaction, answer, context.maxTextLength).catch((error) => {
    logger.warn(details(error), "The answer to a command could not be shown.");
  });
}

async function carryOut(
  interaction: ChatInputCommandInteraction,
  { spec, host, accountId }: CommandContext,
): Promise<string | undefined> {
  const from = await placeOf(interaction, accountId);
  if (!from) return undefined;
  const member = interaction.inCachedGuild() ? interaction.member : null;
  const reply = await host.onCommand(
    given({
      id: interaction.id,
      name: spec.name,
      text: argumentText(interaction, spec),
      from,
      sender: senderOf(interaction.user, member),
      locale: interaction.locale,
      guildId: interaction.guildId ?? undefined,
    }),
  );
  return reply?.text;
}

/** A call may come from a channel that the client cannot see; then its kind is all that is known. */
async function placeOf(
  interaction: ChatInputCommandInteraction,
  accountId: string,
): Promise<Address | undefined> {
  const { channelId, client } = interaction;
  const channel = interaction.channel ?? (await client.channels.fetch(channelId).catch(() => null));
  if (channel) return toAddress(channel, accountId);
  return {
    channel: "discord",
    accountId,
    chatType: interaction.inGuild() ? "channel" : "direct",
    chatId: channelId,
  };
}

/** The arguments as one would type them, in the order of the command. */
function argumentText({ options }: ChatInputCommandInteraction, { args }: CommandSpec): string {
  const values = args.map(({ name }) => options.getString(name));
  return values.filter((value) => value !== null).join(" ");
}

/** Nothing to say: the waiting notice goes away. */
async function show(
  interaction: ChatInputCommandInteraction,
  markdown: string | undefined,
  maxTextLength: number,
): Promise<void> {
  const [first, ...more] = renderDiscord(markdown ?? "", maxTextLength);
  if (first === undefined) return interaction.deleteReply();
  await interaction.editReply({ content: first, allowedMentions: noMentions });
  for (const content of more) {
    await interaction.followUp({ content, flags: ephemeral, allowedMentions: noMentions });
  }
}
