import type { CommandSpec, Locale } from "../core/ports/command.ts";
import { spellingOf } from "./argument-words.ts";
import type { Words } from "./words.ts";

/** `/send [on|off|inherit]` */
export function usageOf(spec: CommandSpec): string {
  const args = spec.args.map((arg) => {
    const values = arg.choices?.join("|") ?? arg.name;
    return arg.required ? `<${values}>` : `[${values}]`;
  });
  return [`/${spec.name}`, ...args].join(" ");
}

/** For somebody who typed something else: how it is used, and the words of their language that may be typed as well. */
export function howToUse(spec: CommandSpec, locale: Locale, words: Words): string {
  const usage = words("usage.line", { usage: usageOf(spec) });
  const spellings = spec.args
    .flatMap(({ choices = [] }) => choices)
    .flatMap((value) => {
      const spelling = spellingOf(value, locale);
      return spelling === undefined ? [] : [`${spelling} = ${value}`];
    });
  if (spellings.length === 0) return usage;
  return `${usage}\n${words("usage.words", { words: spellings.join(", ") })}`;
}
