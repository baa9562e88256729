import type { Messages } from "./messages.ts";

export const en: Messages = {
  "notice.failed": "Something went wrong and I could not answer. Please try again.",
  "notice.interrupted":
    "I was restarted while answering, so this message got no answer. Please send it again if you still need one.",
  "notice.announceFailed":
    "A subagent has ended, but its announcement could not be written. Its result is in the history of its session.",
  "notice.completionFailed":
    "A subagent has ended, but I could not say what came of it. Its result is in the history of its session.",
  "denied.owner": "Only the owner can do this. Your id: {id}",
  "usage.line": "Usage: {usage}",
  "send.description": "Decide whether I may send in this chat",
  "send.argument": "on, off, or inherit the configured policy",
  "send.on": "⚙️ Sending is on for this session.",
  "send.off": "⚙️ Sending is off for this session.",
  "send.inherit": "⚙️ This session follows the configured policy ({effective}).",
  "send.current": "⚙️ Sending is {effective} for this session (decided by {rule}).",
  "send.effective.on": "on",
  "send.effective.off": "off",
  "status.description": "Show the state of this session",
  "status.none": "There is no session here yet.",
  "status.session": "Session: {name} (agent {agent})",
  "status.model": "Model: {model}",
  "status.tokens": "Tokens: {total, number}",
  "status.tokens.split": "(in {input, number} / out {output, number})",
  "status.runs":
    "{running, plural, =0 {No run is waiting.} one {# run is running or waiting.} other {# runs are running or waiting.}}",
  "status.send": "Sending: {effective} ({rule})",
  "status.lastRunAborted": "The last run was interrupted.",
  "whoami.description": "Show your id",
  "whoami.id": "Your id on {channel}: {id}",
  "whoami.owner": "You are an owner.",
  "whoami.notOwner": "You are not an owner.",
  "help.description": "List the commands",
  "help.title": "Commands:",
  "help.ownerOnly": "owner only",
};
