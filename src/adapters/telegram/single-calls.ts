import type { Api, Transformer } from "grammy";

/**
 * The bot's Api as its handlers have it, with the host's plugins around it, but none of them makes a call of ours again: a text whose answer was lost
 * may have arrived, and how long to wait after a limit is written down by whoever keeps the deliveries. Plugins that wait before a call or change it
 * work as ever.
 */
export function withSingleCalls(api: Api): Api {
  // The class comes from the bot, as grammY is not ours to load. grammY makes an Api for each update in the same way.
  const own = new (api.constructor as typeof Api)(api.token, api.options);
  own.config.use(throwWhatIsTriedAgain, ...api.config.installedTransformers());
  return own;
}

/** Innermost of all: plugins repeat refusals that look temporary, and errors that are grammY's HttpError. */
const throwWhatIsTriedAgain: Transformer = async (call, method, payload, signal) => {
  const answer = await call(method, payload, signal).catch((error: unknown) => {
    throw new NoAnswer(error);
  });
  if (!answer.ok && (answer.error_code === 429 || answer.error_code >= 500)) throw new NotNow(answer);
  return answer;
};

/** No answer came. `error` is grammY's. */
class NoAnswer extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error));
    this.name = "NoAnswer";
    this.error = error;
  }
}

/** Telegram's refusal, with the fields of grammY's GrammyError. */
class NotNow extends Error {
  readonly error_code: number;
  readonly description: string;
  readonly parameters: object;

  constructor(answer: {
    readonly error_code: number;
    readonly description: string;
    readonly parameters?: object;
  }) {
    super(answer.description);
    this.name = "NotNow";
    this.error_code = answer.error_code;
    this.description = answer.description;
    this.parameters = answer.parameters ?? {};
  }
}
