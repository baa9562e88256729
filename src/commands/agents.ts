import type { Command, CommandParts } from "./command.ts";
import { plain } from "./task-lines.ts";
import { localized, type Words } from "./words.ts";

const MOST_AGENTS = 20;
/** Sessions of one agent that are counted. */
const COUNTED = 500;

/** `/agents`: which agents there are, with which model, and how much they have to do. */
export const agents: Command = {
  spec: { name: "agents", description: localized("agents.description"), args: [], access: "owner" },
  async run({ words }, parts) {
    const ids = [...parts.agents.keys()];
    const lines = await Promise.all(ids.slice(0, MOST_AGENTS).map((id) => agentLine(id, words, parts)));
    const more = ids.length - MOST_AGENTS;
    return {
      text: [
        words("agents.title"),
        ...lines,
        ...(more > 0 ? [words("list.more", { count: more })] : []),
      ].join("\n"),
    };
  },
};

async function agentLine(agentId: string, words: Words, parts: CommandParts): Promise<string> {
  const { names, queue, storage } = parts;
  const scope = { agentIds: "all", keys: [] } as const;
  const { rows, hasMore } = await storage.index.list({
    scope,
    agentId,
    archived: false,
    offset: 0,
    limit: COUNTED,
  });
  const busy = await queue.busy(rows.map(({ session }) => session.key));
  const model = modelOf(agentId, parts);
  const facts = [
    ...(agentId === names.defaultAgentId ? [words("agents.default")] : []),
    ...(model === undefined ? [] : [plain(model)]),
    words("agents.sessions", { count: rows.length, more: String(hasMore) }),
    ...(busy.size === 0 ? [] : [words("agents.running", { count: busy.size })]),
  ];
  return `- ${[`**${plain(agentId)}**`, ...facts].join(" · ")}`;
}

/** The configured one, or the only one that it has. */
function modelOf(agentId: string, { config, agents }: CommandParts): string | undefined {
  const configured = config.agents.list.find(({ id }) => id === agentId)?.model;
  const [only, ...others] = agents.get(agentId)?.models ?? [];
  return configured ?? (others.length === 0 ? only : undefined);
}
