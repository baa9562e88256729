import { join } from "node:path";
import { createRouter } from "./commands/router.ts";
import { localeFor, wordsFor } from "./commands/words.ts";
import { createExchanges, forgottenExchanges } from "./core/announce/exchange.ts";
import { createFlow } from "./core/announce/flow.ts";
import { createChildren, forgottenChildren } from "./core/children/children.ts";
import { isOpen, taskTree, viewOf } from "./core/children/task-tree.ts";
import { createSendCheck } from "./core/delivery/send-check.ts";
import { createTyping } from "./core/delivery/typing.ts";
import { createUndelivered } from "./core/delivery/undelivered.ts";
import { openDatabase } from "./core/engine/sqlite/database.ts";
import { createSqliteEngine } from "./core/engine/sqlite/engine.ts";
import { createGateway } from "./core/gateway.ts";
import { given } from "./core/given.ts";
import { createIntake } from "./core/inbound/intake.ts";
import { createFindOrigin } from "./core/inbound/origin.ts";
import { createOverheard } from "./core/inbound/overheard.ts";
import { createPairing, type PairingParts } from "./core/inbound/pairing.ts";
import { createPipeline } from "./core/inbound/pipeline.ts";
import type { Address } from "./core/ports/chat.ts";
import type { Session } from "./core/ports/session.ts";
import { createExecutor } from "./core/runs/execute.ts";
import { patientQueue } from "./core/runs/patience.ts";
import { createToolCheck } from "./core/runs/tool-check.ts";
import { displayName, kindOf } from "./core/session/describe.ts";
import { isReserved, type KeyNames } from "./core/session/key.ts";
import { createMoves } from "./core/session/moves.ts";
import { createPeople } from "./core/session/people.ts";
import { createReadStatus, type ReadStatusParts } from "./core/session/read-status.ts";
import { createSessions } from "./core/session/sessions.ts";
import { createEmbeddedStorage } from "./core/storage/embedded.ts";
import { createKeyvStorage } from "./core/storage/keyv-storage.ts";
import { shortLine } from "./core/text/short-line.ts";
import { createToolbox, createTools } from "./core/tools/catalogue.ts";
import { createFindTarget } from "./core/tools/find-target.ts";
import { maskedTool } from "./core/tools/masked-tool.ts";
import { createRowExtras } from "./core/tools/row-extras.ts";
import { createRedactor } from "./core/transcript/redact.ts";
import type { Basics, SwitchboardOptions } from "./options.ts";

/** The files: one SQLite database for queue and index, and for the values unless the host brings a store. */
export async function openStore(options: SwitchboardOptions, basics: Basics) {
  const { clock, config, logger, names } = basics;
  const dataDir = options.dataDir ?? "./.switchboard";
  const database = openDatabase(join(dataDir, "switchboard.sqlite"), {
    durable: config.storage.syncEveryWrite,
  });
  const shared = {
    database,
    clock,
    logger,
    describe: (session: Session) => describe(session, names),
    isListed: (session: Session) => !isReserved(session.key, names),
    basis: JSON.stringify(names),
    ...(config.transcripts.mirror ? { mirrorDir: join(dataDir, "transcripts") } : {}),
  };
  const storage =
    options.store === undefined
      ? createEmbeddedStorage(shared)
      : await createKeyvStorage({
          ...shared,
          keyv: options.store,
          ...given({ prefix: options.storePrefix }),
        });
  const sqlite = await createSqliteEngine({
    database,
    clock,
    logger,
    writer: storage,
    forgetWith: (ids) => [...forgottenExchanges(ids), ...forgottenChildren(ids)],
  });
  const engine = { ...sqlite, queue: patientQueue(sqlite.queue, clock) };
  return { database, storage, engine, queue: engine.queue };
}

/** Of a thread; platforms allow a little more. */
const LONGEST_TITLE = 80;

type Store = Awaited<ReturnType<typeof openStore>>;

/** The services that doors and flows share. */
export function createServices(basics: Basics, store: Store) {
  const parts = { ...basics, ...store };
  const sessions = createSessions(parts);
  const sendCheck = createSendCheck(sessions, basics.config);
  const registered = basics.config.redaction.values;
  const redactor = createRedactor({ registered });
  const exchanges = createExchanges({ ...parts, sessions, sendCheck, redactor });
  const overheard = createOverheard(parts);
  const undelivered = createUndelivered({ ...parts, sessions, redactor });
  const children = createChildren({ ...parts, sessions, sendCheck, redactor, notice: noticeIn(basics) });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const openTasks: ReadStatusParts["openTasks"] = async (key, { mask, mayShow }) => {
    const looking = { ...parts, sessions, redactor: mask };
    const open = (await taskTree(key, looking)).filter(isOpen);
    const shown = await Promise.all(open.map(({ child }) => mayShow(child.key)));
    return Promise.all(open.filter((_, at) => shown[at]).map((node) => viewOf(node, looking)));
  };
  return {
    ...parts,
    sessions,
    sendCheck,
    redactor,
    exchanges,
    children,
    undelivered,
    toolCheck: createToolCheck({ ...parts, sessions, children }),
    readStatus: createReadStatus({
      ...parts,
      sendCheck,
      redactor,
      children,
      undelivered,
      openTasks,
      timeZone,
    }),
    flow: createFlow(exchanges, children),
    people: createPeople(store.storage),
    moves: createMoves(store),
    overheard,
    intake: createIntake({ ...parts, sessions, overheard }),
    pairing: createPairing({ ...parts, reply: pairingReplyIn(basics) }),
  };
}

export type Services = ReturnType<typeof createServices>;

/** Everything where someone outside comes in, and the executor of runs that gives them their tools. */
export function createDoors(services: Services, { externalHistory, acp }: SwitchboardOptions) {
  const { adapters } = services;
  const adapterOf = (at: { readonly channel: string; readonly accountId: string }) =>
    adapters.find((adapter) => adapter.channel === at.channel && adapter.accountId === at.accountId);

  const findTarget = createFindTarget(services);
  const extras = createRowExtras(services.storage, services.redactor);
  const threadsAt = (at: Address) => {
    const adapter = adapterOf(at);
    const open = adapter?.createThread?.bind(adapter);
    // Titles stand where everybody sees them, and none has to show how a key looks.
    const mask = (text: string) => services.redactor.redact(text).text;
    return open && ((title: string) => open(at, shortLine(title, LONGEST_TITLE, mask)));
  };
  const tools = createTools({
    ...services,
    findTarget,
    extras,
    acp,
    threadsAt,
    ...given({ externalHistory }),
  }).map((tool) => maskedTool(tool, services));
  const toolbox = createToolbox(tools, services);

  const ownIds = (channel: string, accountId: string) => adapterOf({ channel, accountId })?.ownIds?.() ?? [];
  const findOrigin = createFindOrigin({ ...services, ownIds });
  const router = createRouter({ ...services, findOrigin });
  const typing = createTyping({ ...services, adapterFor: adapterOf });
  const execute = createExecutor({
    ...services,
    heard: services.exchanges.heard,
    runnerOf: ({ runtime, agentId }) => (runtime === "acp" ? acp : services.agents.get(agentId)),
    tools: toolbox.boundTo,
    typing: (session, job) => typing(session, job.replyTo),
    notice: noticeIn(services),
  });
  return {
    toolsFor: (session: Session) => toolbox.boundTo(session),
    findOrigin,
    router,
    execute,
    accept: createPipeline({ ...services, router, findOrigin }),
    gateway: createGateway({ ...services, tools: toolbox.boundToHost }),
  };
}

/** Short sentences for people, in their language. */
function noticeIn({ config }: Basics) {
  return (what: "failed" | "interrupted" | "announceFailed" | "completionFailed", tag: string | undefined) =>
    wordsFor(localeFor(tag, config.locale))(`notice.${what}`);
}

function pairingReplyIn({ config }: Basics): PairingParts["reply"] {
  return ({ code, id }, tag) =>
    wordsFor(localeFor(tag, config.locale))("pair.reply", { code, id: id.replaceAll("`", "'") });
}

function describe(session: Session, names: KeyNames) {
  return { kind: kindOf(session.key, names, session), displayName: displayName(session) };
}
