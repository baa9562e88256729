import type { Api } from "grammy";

type GrammySignal = NonNullable<Parameters<Api["sendMessage"]>[3]>;

/** grammY's types name the AbortSignal of an old polyfill; at run time it only listens for "abort", as Node's own signal has it. */
export const asGrammySignal = (signal: AbortSignal) => signal as GrammySignal;
