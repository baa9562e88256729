/** Work of one chat after the other, of different chats side by side. */
export interface InTurn {
  /** Resolves or rejects as `work` does; a failure holds nothing up. */
  run<T>(chatId: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>;
}

export function createInTurn(): InTurn {
  const lastOf = new Map<string, Promise<unknown>>();
  return {
    async run(chatId, work) {
      const turn = (lastOf.get(chatId) ?? Promise.resolve()).then(work);
      const settled = turn.catch(() => {});
      lastOf.set(chatId, settled);
      try {
        return await turn;
      } finally {
        if (lastOf.get(chatId) === settled) lastOf.delete(chatId);
      }
    },
    async idle() {
      while (lastOf.size > 0) await Promise.all(lastOf.values());
    },
  };
}
