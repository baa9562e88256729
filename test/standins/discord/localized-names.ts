/** A command, an option or a choice. */
interface Named {
  readonly name: string;
  readonly name_localizations?: Partial<Record<string, string>> | null | undefined;
}

/** Whether a person whose client speaks `locale` can mean it by this word: the name that is shown, or the real one. */
export function isCalled({ name, name_localizations }: Named, word: string, locale: string): boolean {
  return word === name || word === name_localizations?.[locale];
}

/** Whether each can be told from the others in every language: neither by name nor by what they are called there are two the same. */
export function areDistinct(some: readonly Named[]): boolean {
  return some.every((one, at) => some.slice(at + 1).every((other) => !clash(one, other)));
}

export function clash(one: Named, other: Named): boolean {
  const [mine, theirs] = [one.name_localizations ?? {}, other.name_localizations ?? {}];
  return (
    one.name === other.name ||
    Object.entries(mine).some(([locale, name]) => name === other.name || name === theirs[locale]) ||
    Object.values(theirs).includes(one.name)
  );
}

/** As the service keeps it, at any depth: what is called or described as without a language is not kept. */
export function withoutIdentical<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const fields: Record<string, unknown> = { ...inner };
    for (const field of ["name", "description"]) {
      const texts = fields[`${field}_localizations`];
      if (texts === undefined) continue;
      const kept = Object.entries(texts ?? {}).filter(([, text]) => text !== fields[field]);
      fields[`${field}_localizations`] = kept.length > 0 ? Object.fromEntries(kept) : null;
    }
    return fields;
  });
}
