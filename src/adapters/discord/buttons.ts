import type { APIActionRowComponent, APIButtonComponentWithCustomId } from "discord.js";
import type { Choice } from "../../core/ports/command.ts";
import { shorten } from "../../core/text/shorten.ts";

type ButtonRow = APIActionRowComponent<APIButtonComponentWithCustomId>;

/** By this a press is known as ours, whichever process or version drew the button. */
const prefix = "bot-switchboard:";
const row = 1;
const button = 2;
const secondary = 2;
const buttonsPerRow = 5;
const mostButtons = 25;
const longestLabel = 80;
const longestId = 100;

/** Choices as rows of buttons. Discord takes 25 in one message, and refuses a message that holds one of them twice. */
export function toButtons(choices: readonly Choice[] = []): ButtonRow[] {
  const buttons = new Map<string, APIButtonComponentWithCustomId>();
  for (const { label, command } of choices) {
    const custom_id = prefix + command;
    if (custom_id.length > longestId) continue;
    const shown = shorten(label.trim(), longestLabel) || command;
    buttons.set(custom_id, { type: button, style: secondary, label: shown, custom_id });
  }
  const drawn = [...buttons.values()].slice(0, mostButtons);
  const rows = Array.from({ length: Math.ceil(drawn.length / buttonsPerRow) }, (_, at) =>
    drawn.slice(at * buttonsPerRow, (at + 1) * buttonsPerRow),
  );
  return rows.map((components) => ({ type: row, components }));
}

/** The command behind a button of ours; undefined for everybody else's. */
export function commandBehind(
  customId: string,
): { readonly name: string; readonly text: string } | undefined {
  if (!customId.startsWith(prefix)) return undefined;
  const [, name, text = ""] = /^\/([a-z]{1,32})(?: (.*))?$/.exec(customId.slice(prefix.length)) ?? [];
  return name === undefined ? undefined : { name, text };
}
