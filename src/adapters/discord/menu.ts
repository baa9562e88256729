import type { APIApplicationCommand, Client } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import type { AdapterHost } from "../../core/ports/chat.ts";
import { type Definition, isOurs, isSame, toDefinition, withoutTaken } from "./command-definition.ts";
import { inTime } from "./in-time.ts";

interface MenuParts {
  readonly client: Client;
  readonly host: AdapterHost;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** The call of a registered command, as far as it tells whose the command is. */
interface CommandUse {
  readonly commandId: string;
  /** null: the command is registered for all servers. */
  readonly commandGuildId: string | null;
}

const chatInput = 1;

/**
 * The registered commands of the bot: keeps ours up to date one by one, never touches another, and knows which are ours.
 * Nothing here rejects.
 */
export class Menu {
  readonly #parts: MenuParts;
  readonly #definitions: readonly Definition[];
  /** By command id, as far as asked: whether it is ours. */
  readonly #ours = new Map<string, boolean>();
  #upkeep: Promise<void> | undefined;

  constructor(parts: MenuParts) {
    this.#parts = parts;
    this.#definitions = parts.host.commands.map(toDefinition);
  }

  /** Brings our commands up to date, once; after a failure the next call tries again. */
  update(): void {
    const { host, signal } = this.#parts;
    this.#upkeep ??= this.#update().catch((error: unknown) => {
      this.#upkeep = undefined;
      if (signal.aborted) return;
      const advice =
        "The command menu could not be brought up to date. It is tried again with the next connection.";
      host.logger.warn({ error: messageOf(error) }, advice);
    });
  }

  /** Whether a command with the name of one of ours is ours. One that cannot be looked up is not. */
  async isOurs({ commandId, commandGuildId }: CommandUse): Promise<boolean> {
    const { client, host } = this.#parts;
    try {
      const applicationId = client.application?.id;
      if (!this.#ours.has(commandId) && applicationId)
        await inTime(this.#read(pathOf(applicationId, commandGuildId)));
    } catch (error) {
      const advice = "A command was not answered, as Discord did not tell whether it is ours. Call it again.";
      host.logger.warn({ error: messageOf(error) }, advice);
    }
    return this.#ours.get(commandId) ?? false;
  }

  async #update(): Promise<void> {
    const { client, host, signal } = this.#parts;
    if (!client.application) return;
    const { rest } = client;
    const path = pathOf(client.application.id, null);
    const { namesakes, others } = await this.#read(path);
    for (const wanted of this.#definitions) {
      if (signal.aborted) return;
      const present = namesakes.get(wanted.name);
      const definition = withoutTaken(wanted, others);
      if (present && !this.#ours.get(present.id)) {
        const advice = `The bot has its own /${present.name}, so ours is not in the menu. Typed as a message it still works.`;
        host.logger.warn({ command: present.name }, advice);
      } else if (!present) this.#ours.set(idOf(await rest.post(path, { body: definition })), true);
      else if (!isSame(present, definition)) await rest.patch(`${path}/${present.id}`, { body: definition });
    }
  }

  /** The commands that have the name of one of ours, by name, and those that are not ours; which are is remembered. */
  async #read(path: `/${string}`) {
    const query = new URLSearchParams({ with_localizations: "true" });
    // The shape of the answer is Discord's promise; discord.js types it as unknown.
    const read = (await this.#parts.client.rest.get(path, { query })) as readonly APIApplicationCommand[];
    const all = read.filter(({ type }) => type === chatInput);
    const namesakes = new Map<string, APIApplicationCommand>();
    for (const definition of this.#definitions) {
      const present = all.find(({ name }) => name === definition.name);
      if (!present) continue;
      namesakes.set(definition.name, present);
      this.#ours.set(present.id, isOurs(present, definition));
    }
    return { namesakes, others: all.filter(({ id }) => this.#ours.get(id) !== true) };
  }
}

/** The shape of the answer is Discord's promise; discord.js types it as unknown. */
const idOf = (made: unknown) => (made as APIApplicationCommand).id;

function pathOf(applicationId: string, guildId: string | null): `/${string}` {
  const scope = guildId === null ? "" : `/guilds/${guildId}`;
  return `/applications/${applicationId}${scope}/commands`;
}
