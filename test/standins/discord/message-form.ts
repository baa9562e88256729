import { z } from "zod";
import { ApiError, refuse } from "./api-error.ts";
import { componentRows } from "./components.ts";

const id = z.string().regex(/^\d{17,20}$/, "is not a snowflake");

const allowedMentions = z
  .object({
    parse: z.array(z.enum(["everyone", "roles", "users"])).optional(),
    users: z.array(id).max(100).optional(),
    roles: z.array(id).max(100).optional(),
    replied_user: z.boolean().optional(),
  })
  .refine(
    ({ parse, users }) => !(parse?.includes("users") && users?.length),
    "parse and users exclude each other",
  );

const messageForm = z.object({
  content: z.string().max(2000).nullish(),
  nonce: z.union([z.string().max(25), z.number().int()]).optional(),
  enforce_nonce: z.boolean().optional(),
  allowed_mentions: allowedMentions.nullish(),
  message_reference: z
    .object({ message_id: id, channel_id: id.optional(), fail_if_not_exists: z.boolean().optional() })
    .optional(),
  flags: z.number().int().nullish(),
  tts: z.boolean().optional(),
  embeds: z.array(z.unknown()).max(10).nullish(),
  components: componentRows.nullish(),
  attachments: z.array(z.unknown()).max(10).nullish(),
  sticker_ids: z.array(id).max(3).nullish(),
  poll: z.unknown().optional(),
});

export type MessageForm = z.infer<typeof messageForm>;
export type AllowedMentions = z.infer<typeof allowedMentions>;

/** Checks a form as Discord does: the first bad field becomes 50035 with its path. */
export function checkForm<Form>(schema: z.ZodType<Form>, body: unknown): Form {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (!issue) throw new ApiError(400, 50109, "The request body contains invalid JSON.");
  const code = issue.code === "too_big" ? "BASE_TYPE_MAX_LENGTH" : "INVALID_VALUE";
  throw refuse.invalidForm(issue.path.join(".") || "body", code, issue.message);
}

/** A message that may be stored: within the limits, not empty, blanks at both ends removed as the service does. */
export function checkMessage(body: unknown): MessageForm & { readonly text: string } {
  const form = checkForm(messageForm, body);
  const text = (form.content ?? "").trim();
  const others = [form.embeds, form.components, form.attachments, form.sticker_ids];
  const hasOther = others.some((list) => list?.length) || form.poll !== undefined;
  if (text === "" && !hasOther) throw refuse.emptyMessage();
  return { ...form, text };
}

/** Everybody whose phone would ring: "everyone", "<@id>", "<@&id>", and "reply" for the author replied to. */
export function pingsOf(
  text: string,
  allowed: AllowedMentions | null | undefined,
  isReply: boolean,
): string[] {
  const parse = allowed ? (allowed.parse ?? []) : ["everyone", "roles", "users"];
  const everyone = parse.includes("everyone") && /@(everyone|here)\b/.test(text) ? ["everyone"] : [];
  const roles = mentionedIds(text, /<@&(\d+)>/g)
    .filter((role) => parse.includes("roles") || allowed?.roles?.includes(role))
    .map((role) => `<@&${role}>`);
  const users = mentionedIds(text, /<@!?(\d+)>/g)
    .filter((user) => parse.includes("users") || allowed?.users?.includes(user))
    .map((user) => `<@${user}>`);
  const reply = isReply && (allowed ? allowed.replied_user === true : true) ? ["reply"] : [];
  return [...everyone, ...roles, ...users, ...reply];
}

export function mentionedIds(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ""))];
}
