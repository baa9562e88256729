import { z } from "zod";
import { refuse } from "./api-error.ts";
import { areDistinct, clash, isCalled, withoutIdentical } from "./localized-names.ts";
import { checkForm } from "./message-form.ts";
import { snowflake } from "./world.ts";

const name = z
  .string()
  .regex(/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u, "Command name is invalid")
  .refine((text) => text === text.toLowerCase(), "Command name must be lower-case");
const description = z.string().min(1).max(100);
const localized = (text: z.ZodType<string>) => z.partialRecord(z.enum(discordLocales()), text).nullish();

const choice = z.object({
  name: z.string().min(1).max(100),
  name_localizations: localized(z.string().min(1).max(100)),
  value: z.union([z.string().max(100), z.number()]),
});

const option = z.object({
  type: z.number().int().min(1).max(11),
  name,
  description,
  name_localizations: localized(name),
  description_localizations: localized(description),
  required: z.boolean().optional(),
  autocomplete: z.boolean().optional(),
  choices: z.array(choice).max(25).refine(areDistinct, "Choice names must be unique").nullish(),
  get options() {
    return z.array(option).max(25).optional();
  },
});

const commandForm = z.object({
  name,
  description,
  type: z.literal(1).optional(),
  name_localizations: localized(name),
  description_localizations: localized(description),
  options: z
    .array(option)
    .max(25)
    .refine(requiredFirst, "Required options must be placed before non-required options")
    .refine(areDistinct, "Option name is already used in these options")
    .optional(),
  default_member_permissions: z.string().nullish(),
  contexts: z.array(z.number().int().min(0).max(2)).nullish(),
  integration_types: z.array(z.number().int().min(0).max(1)).nullish(),
  nsfw: z.boolean().optional(),
});

type CommandForm = z.infer<typeof commandForm>;

export interface Command extends CommandForm {
  readonly id: string;
  readonly version: string;
}

/** The application commands of one application in one scope (global, or one guild). */
export class Commands {
  readonly #byName = new Map<string, Command>();
  readonly #applicationId: string;
  readonly #guildId: string | undefined;

  constructor(applicationId: string, guildId?: string) {
    this.#applicationId = applicationId;
    this.#guildId = guildId;
  }

  list(): Command[] {
    return [...this.#byName.values()];
  }

  /** By its name, or by what it is called in a person's client. */
  find(word: string, locale = "en-US"): Command | undefined {
    return this.#byName.get(word) ?? this.list().find((command) => isCalled(command, word, locale));
  }

  get(id: string): Command {
    const command = this.list().find((candidate) => candidate.id === id);
    if (!command) throw refuse.unknownCommand();
    return command;
  }

  /** POST: makes the command, or overwrites the one with the same name. */
  upsert(body: unknown): { command: Command; isNew: boolean } {
    const form = checkForm(commandForm, body);
    const existing = this.#byName.get(form.name);
    if (!existing && this.#byName.size >= 100) throw refuse.tooManyCommands();
    this.#checkNames(form, existing?.id);
    return { command: this.#store(form, existing?.id ?? snowflake()), isNew: !existing };
  }

  edit(id: string, body: unknown): Command {
    const existing = this.get(id);
    const form = checkForm(commandForm, { ...existing, ...z.object({}).loose().parse(body) });
    this.#checkNames(form, id);
    this.#byName.delete(existing.name);
    return this.#store(form, id);
  }

  remove(id: string): void {
    this.#byName.delete(this.get(id).name);
  }

  /** PUT: the list becomes exactly this; commands that keep their name keep their id. */
  replaceAll(body: unknown): Command[] {
    const forms = checkForm(z.array(commandForm).max(100), body);
    if (!areDistinct(forms)) throw refuse.duplicateName();
    const before = new Map(this.#byName);
    this.#byName.clear();
    return forms.map((form) => this.#store(form, before.get(form.name)?.id ?? snowflake()));
  }

  #checkNames(form: CommandForm, id?: string): void {
    if (this.list().some((other) => other.id !== id && clash(form, other))) throw refuse.duplicateName();
  }

  #store(form: CommandForm, id: string): Command {
    const command = {
      ...withoutIdentical(form),
      id,
      application_id: this.#applicationId,
      version: snowflake(),
      type: 1 as const,
      default_member_permissions: form.default_member_permissions ?? null,
      contexts: form.contexts ?? null,
      integration_types: form.integration_types ?? [0],
      nsfw: form.nsfw ?? false,
      ...(this.#guildId === undefined ? {} : { guild_id: this.#guildId }),
    };
    this.#byName.set(form.name, command);
    return command;
  }
}

/** What GET shows without `with_localizations=true`. */
export function withoutLocalizations(value: Command): object {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (key.endsWith("_localizations") ? undefined : inner)),
  );
}

function requiredFirst(options: readonly { required?: boolean | undefined }[]): boolean {
  const firstOptional = options.findIndex(({ required }) => !required);
  return firstOptional === -1 || options.slice(firstOptional).every(({ required }) => !required);
}

function discordLocales() {
  const list =
    "id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko";
  return list.split(" ");
}
