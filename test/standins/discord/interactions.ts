import { z } from "zod";
import { refuse } from "./api-error.ts";
import type { Command } from "./commands.ts";
import { checkForm, checkMessage } from "./message-form.ts";
import { plainMessage } from "./messages.ts";
import { type BotAccount, type Channel, isDirect, snowflake, type User, type World } from "./world.ts";

/** A slash command that a person called, and what the bot did about it. */
export interface SlashCall {
  readonly id: string;
  readonly token: string;
  readonly channelId: string;
  readonly bot: BotAccount;
  state: "unanswered" | "thinking" | "answered" | "deleted";
  /** Only the caller sees the answer. */
  ephemeral: boolean;
  acknowledgedAfterMs: number | undefined;
  /** What the person sees now: the reply, then follow-ups. */
  readonly answers: { id: string; content: string; ephemeral: boolean; allowedMentions: unknown }[];
}

const callbackForm = z.discriminatedUnion("type", [
  z.object({ type: z.literal(4), data: z.object({ flags: z.number().optional() }).loose() }),
  z.object({ type: z.literal(5), data: z.object({ flags: z.number().optional() }).loose().optional() }),
]);

const ephemeralFlag = 64;
const acknowledgeWithinMs = 3000;
const tokenLivesMs = 15 * 60_000;

/** The calls made so far. Answers come by callback first, then through the call's own webhook. */
export class Interactions {
  readonly #calls = new Map<string, SlashCall & { readonly madeAtMs: number }>();

  open(bot: BotAccount, channelId: string): SlashCall {
    const id = snowflake();
    const call = {
      id,
      token: `interaction-token-${id}`,
      channelId,
      bot,
      state: "unanswered" as const,
      ephemeral: false,
      acknowledgedAfterMs: undefined,
      answers: [],
      madeAtMs: Date.now(),
    };
    this.#calls.set(call.token, call);
    return call;
  }

  /** `POST /interactions/:id/:token/callback`: once, within three seconds. */
  acknowledge(id: string, token: string, body: unknown): SlashCall {
    const call = this.#calls.get(token);
    const waitedMs = Date.now() - (call?.madeAtMs ?? 0);
    if (call?.id !== id || waitedMs > acknowledgeWithinMs) throw refuse.unknownInteraction();
    if (call.state !== "unanswered") throw refuse.alreadyAcknowledged();
    const form = checkForm(callbackForm, body);
    call.acknowledgedAfterMs = waitedMs;
    call.ephemeral = ((form.data?.flags ?? 0) & ephemeralFlag) !== 0;
    call.state = form.type === 5 ? "thinking" : "answered";
    if (form.type === 4) call.answers.push(answerOf(form.data, call.ephemeral));
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
    const answer = answerAt(call, indexOf(call, messageId));
    const { content, allowedMentions } = answerOf(body, answer.ephemeral);
    return messageFrom(call, Object.assign(answer, { content, allowedMentions }));
  }

  /** `POST /webhooks/:app/:token`. The first follow-up to a thinking call takes the place of its answer. */
  followUp(token: string, body: unknown): object {
    const call = this.#acknowledged(token);
    if (call.state === "thinking") return this.edit(token, "@original", body);
    const { flags } = checkForm(z.object({ flags: z.number().optional() }).loose(), body);
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

function answerOf(body: unknown, ephemeral: boolean): SlashCall["answers"][number] {
  const { text, allowed_mentions } = checkMessage(body);
  return { id: snowflake(), content: text, ephemeral, allowedMentions: allowed_mentions };
}

/** An answer as a message object, which is what the webhook routes return. */
function messageFrom({ bot, channelId }: SlashCall, answer: SlashCall["answers"][number]): object {
  return {
    ...plainMessage,
    id: answer.id,
    channel_id: channelId,
    author: bot.user,
    content: answer.content,
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

function answerAt(call: SlashCall, index: number): SlashCall["answers"][number] {
  const answer = call.answers[index];
  if (!answer) throw refuse.unknownMessage();
  return answer;
}

export interface SlashDetails {
  readonly world: World;
  readonly bot: BotAccount;
  readonly command: Command;
  readonly options: Readonly<Record<string, string>>;
  readonly channel: Channel;
  readonly by: User;
  readonly locale: string;
}

/** The INTERACTION_CREATE payload. What a person's client would not let through is an error of the test. */
export function interactionPayload(call: SlashCall, details: SlashDetails): object {
  const { world, bot, command, channel, by, locale } = details;
  const direct = isDirect(channel);
  const place = direct
    ? { user: by, context: 1, authorizing_integration_owners: { 1: by.id } }
    : {
        member: world.member(by),
        guild_id: world.guildId,
        guild: { id: world.guildId, locale: "en-US", features: [] },
        guild_locale: "en-US",
        context: 0,
        authorizing_integration_owners: { 0: world.guildId },
      };
  const scope = "guild_id" in command ? { guild_id: command.guild_id } : {};
  const data = { id: command.id, name: command.name, type: 1, options: chosen(details), ...scope };
  return {
    id: call.id,
    application_id: bot.applicationId,
    type: 2,
    token: call.token,
    version: 1,
    channel_id: channel.id,
    channel,
    locale,
    app_permissions: "2248473465835073",
    attachment_size_limit: 10_485_760,
    entitlements: [],
    ...place,
    data,
  };
}

function chosen({ command, options }: SlashDetails): object[] {
  const known = command.options ?? [];
  const missing = known.find(({ name, required }) => required && options[name] === undefined);
  if (missing) throw new Error(`A person cannot call /${command.name} without "${missing.name}".`);
  return Object.entries(options).map(([name, value]) => {
    const spec = known.find((option) => option.name === name);
    if (!spec) throw new Error(`/${command.name} has no option "${name}".`);
    if (spec.choices?.length && !spec.choices.some((choice) => choice.value === value)) {
      throw new Error(`A person cannot choose "${value}" for "${name}" of /${command.name}.`);
    }
    return { name, type: spec.type, value };
  });
}
