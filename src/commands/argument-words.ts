import type { Locale } from "../core/ports/command.ts";
import { folded } from "./fold.ts";

type Spellings = Readonly<Record<Locale, readonly string[]>>;

/**
 * What people may type instead of the words that usage lines show, whatever their own language. The first of a language is the one that it is shown as.
 * Among the values of one argument a spelling means one thing only.
 */
export const ARGUMENT_WORDS: Readonly<Record<string, Spellings>> = {
  on: {
    en: ["on", "allow"],
    es: ["activado", "activar", "encendido", "encender"],
    "pt-BR": ["ligado", "ligar", "ativado", "ativar"],
    hi: ["चालू", "शुरू"],
  },
  off: {
    en: ["off", "deny"],
    es: ["desactivado", "desactivar", "apagado", "apagar"],
    "pt-BR": ["desligado", "desligar", "desativado", "desativar"],
    hi: ["बंद", "बन्द"],
  },
  inherit: {
    en: ["inherit", "default", "reset"],
    es: ["heredar", "heredado", "predeterminado"],
    "pt-BR": ["herdar", "herdado", "padrão"],
    hi: ["डिफ़ॉल्ट", "नीति"],
  },
  list: { en: ["list"], es: ["lista", "listar"], "pt-BR": ["lista", "listar"], hi: ["सूची", "लिस्ट"] },
  info: {
    en: ["info", "details"],
    es: ["información", "detalles"],
    "pt-BR": ["informações", "informação", "detalhes"],
    hi: ["जानकारी", "विवरण"],
  },
  log: { en: ["log"], es: ["registro"], "pt-BR": ["registro"], hi: ["लॉग"] },
  stop: {
    en: ["stop"],
    es: ["detener", "parar"],
    "pt-BR": ["parar", "interromper"],
    hi: ["रोकें", "रोको"],
  },
  tree: { en: ["tree"], es: ["árbol"], "pt-BR": ["árvore"], hi: ["पेड़", "ट्री"] },
  retry: { en: ["retry", "resend"], es: ["reenviar"], "pt-BR": ["reenviar"], hi: ["दोबारा"] },
  dismiss: { en: ["dismiss"], es: ["descartar"], "pt-BR": ["descartar"], hi: ["हटाएँ", "हटाओ"] },
  // "todo" would be a label, and what it does cannot be undone.
  all: { en: ["all"], es: ["todos", "todas"], "pt-BR": ["todos", "todas"], hi: ["सभी", "सब"] },
  history: {
    en: ["history"],
    es: ["historial", "historia"],
    "pt-BR": ["histórico", "história"],
    hi: ["इतिहास"],
  },
  label: {
    en: ["label"],
    es: ["etiqueta", "etiquetar"],
    "pt-BR": ["rótulo", "rotular", "etiqueta"],
    hi: ["लेबल"],
  },
  archive: { en: ["archive"], es: ["archivar"], "pt-BR": ["arquivar"], hi: ["संग्रह"] },
  archived: {
    en: ["archived"],
    es: ["archivadas", "archivados"],
    "pt-BR": ["arquivadas", "arquivados"],
    hi: ["संग्रहित"],
  },
  approve: {
    en: ["approve", "accept"],
    es: ["aprobar", "aceptar"],
    "pt-BR": ["aprovar", "aceitar"],
    hi: ["स्वीकार", "मंज़ूर"],
  },
  deny: {
    en: ["deny", "reject"],
    es: ["rechazar", "denegar"],
    "pt-BR": ["recusar", "negar"],
    hi: ["अस्वीकार", "नामंज़ूर"],
  },
  unarchive: {
    en: ["unarchive", "restore"],
    es: ["desarchivar", "recuperar"],
    "pt-BR": ["desarquivar", "recuperar"],
    hi: ["बहाल"],
  },
  remove: { en: ["remove"], es: ["quitar"], "pt-BR": ["remover"], hi: ["निकालें"] },
};

const SPELLINGS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(ARGUMENT_WORDS).map(([value, spellings]) => [
    value,
    new Set(Object.values(spellings).flat().map(folded)),
  ]),
);

/** Which of these values a typed word stands for; undefined when it stands for none. */
export function meaningOf(word: string, values: readonly string[]): string | undefined {
  const typed = folded(word);
  return values.find((value) => value === typed) ?? values.find((value) => SPELLINGS.get(value)?.has(typed));
}

/** How a value is called in a language, when that is another word. */
export function spellingOf(value: string, locale: Locale): string | undefined {
  const spelling = SPELLINGS.has(value) ? ARGUMENT_WORDS[value]?.[locale][0] : undefined;
  return spelling === value ? undefined : spelling;
}
