import { z } from "zod";
import { refuse } from "./api-error.ts";
import { type Commands, withoutLocalizations } from "./commands.ts";
import type { Gateway } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import { checkForm, checkMessage } from "./message-form.ts";
import type { Message, Messages } from "./messages.ts";
import type { Answer, Call, Route } from "./rest.ts";
import { type BotAccount, type Channel, channelTypes, isForum, type World } from "./world.ts";

export interface Service {
  readonly world: World;
  readonly gateway: Gateway;
  readonly messages: Messages;
  readonly interactions: Interactions;
  /** The commands of an application: its global ones, or those of one guild. */
  readonly commandsOf: (applicationId: string, guildId?: string) => Commands;
  /** Ids of the rooms where a bot showed that it types. */
  readonly typing: string[];
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const created = (body: unknown): Answer => ({ status: 201, body });
const nothing: Answer = { status: 204 };

/** Everything that the stand-in answers; anything else is 404. */
export function routes(service: Service): readonly Route[] {
  return [
    ...accountRoutes(service),
    ...messageRoutes(service),
    ...threadRoutes(service),
    ...commandRoutes(service),
    ...interactionRoutes(service),
  ];
}

function accountRoutes({ world, gateway }: Service): Route[] {
  const application = ({ bot }: Call) => {
    const { applicationId, user } = loggedIn(bot);
    const flags = { bot_public: true, bot_require_code_grant: false, verify_key: "standin", flags: 0 };
    return ok({ id: applicationId, name: user.username, description: "", ...flags });
  };
  const limits = { total: 1000, remaining: 999, reset_after: 10_000_000 };
  return [
    on("GET", "/gateway/bot", () => {
      const session_start_limit = { ...limits, max_concurrency: gateway.maxConcurrency };
      return ok({ url: gateway.url, shards: 1, session_start_limit });
    }),
    on("GET", "/users/@me", ({ bot }) => ok(loggedIn(bot).user)),
    on("GET", "/users/:id", ({ params }) => {
      const user = world.users.get(at(params, 0));
      if (!user) throw refuse.unknownUser();
      return ok(user);
    }),
    on("POST", "/users/@me/channels", ({ bot, body }) => {
      const { recipient_id } = checkForm(z.object({ recipient_id: z.string() }), body);
      return ok(world.directWith(loggedIn(bot), recipient_id));
    }),
    on("GET", "/applications/@me", application),
    on("GET", "/oauth2/applications/@me", application),
    on("GET", "/guilds/:id", ({ params }) => {
      if (at(params, 0) !== world.guildId) throw refuse.unknownGuild();
      return ok(world.guild());
    }),
    on("GET", "/channels/:id", ({ params }) => ok(world.channel(at(params, 0)))),
  ];
}

function messageRoutes({ world, gateway, messages, typing }: Service): Route[] {
  return [
    on("GET", "/channels/:id/messages", ({ params }) => ok(messages.list(at(params, 0)))),
    on("POST", "/channels/:id/messages", ({ params, bot, body }) => {
      const room = world.channel(at(params, 0));
      const { message, isNew } = messages.post(loggedIn(bot), room.id, body);
      if (room.thread_metadata?.archived) {
        room.thread_metadata.archived = false;
        gateway.dispatchChannel("THREAD_UPDATE", room);
      }
      if (isNew) gateway.dispatchMessage("MESSAGE_CREATE", message);
      return ok(message);
    }),
    on("GET", "/channels/:id/messages/:id", ({ params }) => ok(messages.get(at(params, 0), at(params, 1)))),
    on("PATCH", "/channels/:id/messages/:id", ({ params, bot, body }) => {
      ownMessage(messages, params, loggedIn(bot));
      const edited = messages.edit(at(params, 0), at(params, 1), checkMessage(body).text);
      gateway.dispatchMessage("MESSAGE_UPDATE", edited);
      return ok(edited);
    }),
    on("DELETE", "/channels/:id/messages/:id", ({ params }) => {
      messages.remove(at(params, 0), at(params, 1));
      gateway.dispatchRemoved(world.channel(at(params, 0)), [at(params, 1)]);
      return nothing;
    }),
    on("POST", "/channels/:id/typing", ({ params }) => {
      typing.push(world.channel(at(params, 0)).id);
      return nothing;
    }),
  ];
}

const threadForm = z.object({
  name: z.string().min(1).max(100),
  type: z.number().int().min(10).max(12).optional(),
  auto_archive_duration: z.literal([60, 1440, 4320, 10_080]).optional(),
  message: z.unknown().optional(),
});

function threadRoutes({ world, gateway, messages }: Service): Route[] {
  const open = (parent: Channel, bot: BotAccount, body: unknown): Answer => {
    const form = checkForm(threadForm, body);
    const isPost = isForum(parent);
    if (!isPost && parent.type !== channelTypes.text && parent.type !== channelTypes.announcement) {
      throw refuse.wrongChannelType();
    }
    if (isPost) checkMessage(form.message);
    const type = isPost ? channelTypes.publicThread : (form.type ?? channelTypes.privateThread);
    const thread = world.addThread(parent.id, form.name, bot.user, { type });
    gateway.dispatchChannel("THREAD_CREATE", { ...thread, newly_created: true });
    if (!isPost) return created(thread);
    const { message } = messages.post(bot, thread.id, form.message);
    gateway.dispatchMessage("MESSAGE_CREATE", message);
    return created({ ...thread, message });
  };
  return [
    on("POST", "/channels/:id/threads", ({ params, bot, body }) =>
      open(world.channel(at(params, 0)), loggedIn(bot), body),
    ),
  ];
}

function commandRoutes({ commandsOf, world }: Service): Route[] {
  const scoped = (prefix: string, of: (call: Call) => Commands): Route[] => [
    on("GET", `${prefix}/commands`, (call) => {
      const list = of(call).list();
      return ok(call.query.get("with_localizations") === "true" ? list : list.map(withoutLocalizations));
    }),
    on("POST", `${prefix}/commands`, (call) => {
      const { command, isNew } = of(call).upsert(call.body);
      return isNew ? created(command) : ok(command);
    }),
    on("PUT", `${prefix}/commands`, (call) => ok(of(call).replaceAll(call.body))),
    on("GET", `${prefix}/commands/:id`, (call) => ok(of(call).get(last(call.params)))),
    on("PATCH", `${prefix}/commands/:id`, (call) => ok(of(call).edit(last(call.params), call.body))),
    on("DELETE", `${prefix}/commands/:id`, (call) => {
      of(call).remove(last(call.params));
      return nothing;
    }),
  ];
  const application = ({ params, bot }: Call) => {
    const { applicationId } = loggedIn(bot);
    if (at(params, 0) !== applicationId) throw refuse.notFound();
    return applicationId;
  };
  return [
    ...scoped("/applications/:id", (call) => commandsOf(application(call))),
    ...scoped("/applications/:id/guilds/:id", (call) => {
      if (at(call.params, 1) !== world.guildId) throw refuse.unknownGuild();
      return commandsOf(application(call), world.guildId);
    }),
  ];
}

function interactionRoutes({ interactions }: Service): Route[] {
  const open = (method: string, path: string, handle: Route["handle"]) => ({
    ...on(method, path, handle),
    open: true,
  });
  return [
    open("POST", "/interactions/:id/:token/callback", ({ params, body, query }) => {
      const call = interactions.acknowledge(at(params, 0), at(params, 1), body);
      if (query.get("with_response") !== "true") return nothing;
      return ok({ interaction: { id: call.id, type: 2 }, resource: { type: 4 } });
    }),
    open("POST", "/webhooks/:id/:token", ({ params, body }) =>
      ok(interactions.followUp(at(params, 1), body)),
    ),
    open("PATCH", "/webhooks/:id/:token/messages/:any", ({ params, body }) =>
      ok(interactions.edit(at(params, 1), at(params, 2), body)),
    ),
    open("DELETE", "/webhooks/:id/:token/messages/:any", ({ params }) => {
      interactions.remove(at(params, 1), at(params, 2));
      return nothing;
    }),
  ];
}

function on(method: string, path: string, handle: Route["handle"]): Route {
  const pattern = path.replaceAll(":id", "(\\d+)").replaceAll(/:token|:any/g, "([^/]+)");
  return { method, path: new RegExp(`^${pattern}$`), handle };
}

function loggedIn(bot: BotAccount | undefined): BotAccount {
  if (!bot) throw refuse.unauthorized();
  return bot;
}

function ownMessage(messages: Messages, params: readonly string[], bot: BotAccount): Message {
  const message = messages.get(at(params, 0), at(params, 1));
  if (message.author.id !== bot.user.id) throw refuse.otherAuthor();
  return message;
}

const at = (params: readonly string[], index: number) => params[index] ?? "";
const last = (params: readonly string[]) => params.at(-1) ?? "";
