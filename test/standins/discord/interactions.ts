import { z } from "zod";
import { refuse } from "./api-error.ts";
import type { ComponentRows } from "./components.ts";
import { checkForm, checkMessage } from "./message-form.ts";
import { plainMessage } from "./messages.ts";
import { type BotAccount, snowflake } from "./world.ts";

/** A message that answers an interaction, as its reader sees it now. */
export interface Answer {
  readonly id: string;
  content: string;
  ephemeral: boolean;
  allowedMentions: unknown;
  components: ComponentRows;
}

/** What a bot was asked by a person, and what it did about it: a slash command, typing into one, or a press on a button. */
export interface SlashCall {
  readonly id: string;
  readonly token: string;
  readonly kind: "command" | "typing" | "press";
  readonly channelId: string;
  readonly bot: BotAccount;
  state: "unanswered" | "thinking" | "updating" | "answered" | "deleted";
  /** Only the caller sees the answer. */
  ephemeral: boolean;
  acknowledgedAfterMs: number | undefined;
  /** What the person sees now: the reply, then follow-ups. */
  readonly answers: Answer[];
  /** What is offered for the words typed so far. */
  suggestions: readonly { readonly name: string; readonly value: string | number }[] | undefined;
  /** Changes the message that the pressed button stands below. */
  readonly editPressed: (body: unknown) => object;
}

type NewCall = Pick<SlashCall, "kind" | "channelId" | "bot"> & Partial<Pick<SlashCall, "editPressed">>;

const flagged = z.object({ flags: z.number().optional() }).loose();
const suggestion = z.object({
  name: z.string().min(1).max(100),
  value: z.union([z.string().min(1).max(100), z.number()]),
});
const reply = z.object({ type: z.literal(4), data: flagged });
const think = z.object({ type: z.literal(5), data: flagged.optional() });
const callbackForms = {
  command: z.discriminatedUnion("type", [reply, think]),
  press: z.discriminatedUnion("type", [
    reply,
    think,
    z.object({ type: z.literal(6) }),
    z.object({ type: z.literal(7), data: flagged }),
  ]),
  typing: z.discriminatedUnion("type", [
    z.object({ type: z.literal(8), data: z.object({ choices: z.array(suggestion).max(25) }) }),
  ]),
};

const ephemeralFlag = 64;
const acknowledgeWithinMs = 3000;
const tokenLivesMs = 15 * 60_000;

/** The interactions so far. Answers come by callback first, then through the interaction's own webhook. */
export class Interactions {
  readonly #calls = new Map<string, SlashCall & { readonly madeAtMs: number }>();

  open(call: NewCall): SlashCall {
    const id = snowflake();
    const opened = {
      editPressed: () => {
        throw refuse.unknownMessage();
      },
      ...call,
      id,
      token: `interaction-token-${id}`,
      state: "unanswered" as const,
      ephemeral: false,
      acknowledgedAfterMs: undefined,
      answers: [],
      suggestions: undefined,
      madeAtMs: Date.now(),
    };
    this.#calls.set(opened.token, opened);
    return opened;
  }

  /** `POST /interactions/:id/:token/callback`: once, within three seconds. */
  acknowledge(id: string, token: string, body: unknown): SlashCall {
    const call = this.#calls.get(token);
    const waitedMs = Date.now() - (call?.madeAtMs ?? 0);
    if (call?.id !== id || waitedMs > acknowledgeWithinMs) throw refuse.unknownInteraction();
    if (call.state !== "unanswered") throw refuse.alreadyAcknowledged();
    const form = checkForm<z.infer<(typeof callbackForms)[SlashCall["kind"]]>>(
      callbackForms[call.kind],
      body,
    );
    if (form.type === 8) call.suggestions = form.data.choices;
    if (form.type === 7) call.editPressed(form.data);
    if (form.type === 4 || form.type === 5) {
      call.ephemeral = ((form.data?.flags ?? 0) & ephemeralFlag) !== 0;
    }
    if (form.type === 4) call.answers.push(answerOf(form.data, call.ephemeral));
    call.acknowledgedAfterMs = waitedMs;
    call.state = form.type === 5 ? "thinking" : form.type === 6 ? "updating" : "answered";
    return call;
  }

  /** `PATCH /webhooks/:app/:token/messages/:id`; editing `@original` of a thinking call is its answer. */
  edit(token: string, messageId: string, body: unknown): object {
    const call = this.#acknowledged(token);
    if (call.state === "thinking" && messageId === "@original") {
      call.answers.push(answerOf(body, call.ephemeral));
      call.state = "answered";
      return messageFrom(call, answerAt(call, 0));
    }
    if (call.kind === "press" && call.answers.length === 0 && messageId === "@original") {
      call.state = "answered";
      return call.editPressed(body);
    }
    return editAnswer(call, answerAt(call, indexOf(call, messageId)), body);
  }

  /** `POST /webhooks/:app/:token`. The first follow-up to a thinking call takes the place of its answer. */
  followUp(token: string, body: unknown): object {
    const call = this.#acknowledged(token);
    if (call.state === "thinking") return this.edit(token, "@original", body);
    const { flags } = checkForm(flagged, body);
    const answer = answerOf(body, ((flags ?? 0) & ephemeralFlag) !== 0);
    call.answers.push(answer);
    return messageFrom(call, answer);
  }

  remove(token: string, messageId: string): void {
    const call = this.#acknowledged(token);
    if (messageId === "@original") call.state = "deleted";
    const index = indexOf(call, messageId);
    if (index >= 0) call.answers.splice(index, 1);
  }

  #acknowledged(token: string): SlashCall {
    const call = this.#calls.get(token);
    const isUsable = call && call.state !== "unanswered" && call.state !== "deleted";
    if (!isUsable || Date.now() - call.madeAtMs > tokenLivesMs) throw refuse.unknownWebhook();
    return call;
  }
}

/** Only what the body names changes. */
export function editAnswer(call: SlashCall, answer: Answer, body: unknown): object {
  const { content, components = answer.components } = z
    .object({ content: z.string().optional() })
    .loose()
    .parse(body);
  const edited = answerOf(
    { ...Object(body), content: content ?? answer.content, components },
    answer.ephemeral,
  );
  return messageFrom(call, Object.assign(answer, { ...edited, id: answer.id }));
}

function answerOf(body: unknown, ephemeral: boolean): Answer {
  const { text, allowed_mentions, components } = checkMessage(body);
  return {
    id: snowflake(),
    content: text,
    ephemeral,
    allowedMentions: allowed_mentions,
    components: components ?? [],
  };
}

/** An answer as a message object, which is what the webhook routes return. */
export function messageFrom({ bot, channelId }: SlashCall, answer: Answer): object {
  return {
    ...plainMessage,
    id: answer.id,
    channel_id: channelId,
    author: bot.user,
    content: answer.content,
    components: answer.components,
    type: 20,
    timestamp: new Date().toISOString(),
    mentions: [],
    mention_roles: [],
    flags: answer.ephemeral ? ephemeralFlag : 0,
    webhook_id: bot.applicationId,
  };
}

function indexOf(call: SlashCall, messageId: string): number {
  return messageId === "@original" ? 0 : call.answers.findIndex(({ id }) => id === messageId);
}

function answerAt(call: SlashCall, index: number): Answer {
  const answer = call.answers[index];
  if (!answer) throw refuse.unknownMessage();
  return answer;
}
