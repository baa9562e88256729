import { IntlMessageFormat } from "intl-messageformat";
import type { Locale, Localized } from "../core/ports/command.ts";
import { en } from "./locales/en.ts";
import { es } from "./locales/es.ts";
import { hi } from "./locales/hi.ts";
import type { Messages } from "./locales/messages.ts";
import { ptBR } from "./locales/pt-BR.ts";

const LOCALES: Readonly<Record<Locale, Messages>> = { en, es, "pt-BR": ptBR, hi };

export type MessageKey = keyof Messages;

/** A sentence for a person, in one language. */
export type Words = (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;

export function wordsFor(locale: Locale): Words {
  return (key, values) => String(new IntlMessageFormat(LOCALES[locale][key], locale).format(values));
}

/** One message in every language, for menus. */
export function localized(key: MessageKey): Localized {
  return { en: en[key], es: es[key], "pt-BR": ptBR[key], hi: hi[key] };
}

/** `tag`: what the platform says of the person's client (`es-419`, `pt-br`); absent or unknown languages get the fallback. */
export function localeFor(tag: string | undefined, fallback: Locale): Locale {
  const language = tag?.toLowerCase().split(/[-_]/)[0];
  if (language === "pt") return "pt-BR";
  return language === "en" || language === "es" || language === "hi" ? language : fallback;
}
