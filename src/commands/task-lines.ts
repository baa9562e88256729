import { type TaskView, viewName } from "../core/children/task-view.ts";
import type { Words } from "./words.ts";

/** Characters of a session key that tell children apart well enough for people. */
const KEY_END = 6;

/** What Markdown would take for its own in a text that is no Markdown. */
const MARKS = /[\\`*~[\]<>|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

export function plain(text: string): string {
  return text.replace(MARKS, "\\$&");
}

export function nameOf(view: TaskView): string {
  return plain(viewName(view));
}

export function keyEnd(sessionKey: string): string {
  return sessionKey.slice(-KEY_END);
}

/** `running, 3m12s` */
export function stateOf({ status: state, waitsFor: count = 0, runtime }: TaskView, words: Words): string {
  const said = words("subagents.state", { state, count });
  return runtime === undefined ? said : `${said}, ${runtime}`;
}

/** Everything that is known of one task; what is not is left out. Where others read along a key is only hinted at. */
export function infoLines(view: TaskView, task: string, isRead: boolean, words: Words): readonly string[] {
  const { model, totalTokens: total, sessionKey, error, post, postReason, pendingDescendants } = view;
  const key = isRead ? `…${keyEnd(sessionKey)}` : `\`${sessionKey}\``;
  return [
    `**${nameOf(view)}**: ${stateOf(view, words)}${error === undefined ? "" : ` (${plain(error)})`}`,
    words("subagents.info.task", { task: plain(task) }),
    ...(pendingDescendants > 0 ? [words("subagents.info.below", { count: pendingDescendants })] : []),
    ...(model === undefined ? [] : [words("status.model", { model: plain(model) })]),
    ...(total === undefined ? [] : [words("status.tokens", { total })]),
    ...(post === undefined ? [] : [announcementLine(post, postReason, words)]),
    words("status.key", { key }),
  ];
}

function announcementLine(state: string, reason: string | undefined, words: Words): string {
  const said = words("subagents.info.post", { state });
  return reason === undefined ? said : `${said} (${plain(reason)})`;
}
