import type { CommandArgument, CommandSpec, Locale, Localized } from "../core/ports/command.ts";
import { spellingOf } from "./argument-words.ts";

type Names = Omit<Localized, "en">;

/** What people see in menus instead of a command's name: in lower case, each meaning one command alone. Typed commands keep their names. */
export const COMMAND_NAMES = {
  send: { es: "enviar", "pt-BR": "enviar", hi: "भेजना" },
  status: { es: "estado", "pt-BR": "status", hi: "स्थिति" },
  sessions: { es: "sesiones", "pt-BR": "sessões", hi: "सत्र" },
  agents: { es: "agentes", "pt-BR": "agentes", hi: "एजेंट" },
  tools: { es: "herramientas", "pt-BR": "ferramentas", hi: "टूल" },
  subagents: { es: "subagentes", "pt-BR": "subagentes", hi: "सब-एजेंट" },
  stop: { es: "detener", "pt-BR": "parar", hi: "रोकें" },
  new: { es: "nueva", "pt-BR": "nova", hi: "नई" },
  reset: { es: "reiniciar", "pt-BR": "reiniciar", hi: "रीसेट" },
  deliveries: { es: "entregas", "pt-BR": "entregas", hi: "डिलीवरी" },
  pair: { es: "emparejar", "pt-BR": "parear", hi: "पेयरिंग" },
  whoami: { es: "quién-soy", "pt-BR": "quem-sou", hi: "मैं-कौन" },
  help: { es: "ayuda", "pt-BR": "ajuda", hi: "मदद" },
} as const satisfies Readonly<Record<string, Names>>;

/** What people see in menus instead of an argument's name. */
export const ARGUMENT_NAMES = {
  mode: { es: "modo", "pt-BR": "modo", hi: "मोड" },
  action: { es: "acción", "pt-BR": "ação", hi: "कार्रवाई" },
  which: { es: "cuál", "pt-BR": "qual", hi: "कौन-सा" },
  text: { es: "texto", "pt-BR": "texto", hi: "पाठ" },
} as const satisfies Readonly<Record<string, Names>>;

/** The spec of a command that menus have a name for in every language; so have its arguments. */
export interface OwnSpec extends CommandSpec {
  readonly name: keyof typeof COMMAND_NAMES;
  readonly args: readonly (CommandArgument & { readonly name: keyof typeof ARGUMENT_NAMES })[];
}

/** With what menus call the command, its arguments and their choices. */
export function withMenuNames(spec: OwnSpec): CommandSpec {
  const { name, args } = spec;
  return { ...spec, names: { en: name, ...COMMAND_NAMES[name] }, args: args.map(withNames) };
}

function withNames(arg: OwnSpec["args"][number]): CommandArgument {
  const named = { ...arg, names: { en: arg.name, ...ARGUMENT_NAMES[arg.name] } };
  return arg.choices === undefined ? named : { ...named, choiceNames: arg.choices.map(choiceName) };
}

/** As it may be typed in each language. */
function choiceName(value: string): Localized {
  const spelt = (locale: Locale) => spellingOf(value, locale) ?? value;
  return { en: value, es: spelt("es"), "pt-BR": spelt("pt-BR"), hi: spelt("hi") };
}
