type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same object without the members that are undefined: absent and undefined are not the same in our types, nor on disk. */
export function given<const T extends object>(members: T): Given<T> {
  for (const name in members) if (members[name] === undefined) delete members[name];
  // The loop above makes the difference between the two types true.
  return members as unknown as Given<T>;
}
