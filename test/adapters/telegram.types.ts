import type { Api, Bot, Context, SessionFlavor } from "grammy";
import { telegramAdapter } from "../../src/adapters/telegram/index.ts";

/** Bots as hosts have them: plain, with a flavoured context, with a flavoured API. */
export function fits(
  plain: Bot,
  flavoured: Bot<Context & SessionFlavor<{ visits: number }>>,
  withApi: Bot<Context, Api & { readonly extra: string }>,
) {
  return [
    telegramAdapter({ bot: plain }),
    telegramAdapter({ bot: flavoured }),
    telegramAdapter({ bot: withApi }),
  ];
}
