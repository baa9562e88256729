// Limits of what comes in and of what agents make, in UTF-16 units where nothing else is said. Those of answers: transcript/limits.ts.

/** A message to another session, a task, a message of the host program. More is MESSAGE_TOO_LARGE: whoever wrote it can say it shorter. */
export const MESSAGE_UNITS = 65_536;
/** A session key or session id in a call. */
export const KEY_UNITS = 1024;
/** A label in a call, before it is cleaned; it has 512 characters then. */
export const RAW_LABEL_UNITS = 4096;
/** What a call is told about its wrong parameters. */
export const PROBLEM_UNITS = 2000;

/** What a person wrote, as a prompt holds it; the rest stands in the transcript. Messages that are more together are not answered together. */
export const ASKED_UNITS = 65_536;
/** What a person wrote, as it is stored. No platform has messages of that length. */
export const HEARD_UNITS = 1_048_576;
/** Words that a person's message quotes or forwards. */
export const QUOTE_UNITS = 65_536;
/** Names of people and files, as platforms give them. */
export const NAME_UNITS = 256;
export const MOST_ATTACHMENTS = 50;

/** What an agent says in one run, and each text of its rows. */
export const SAID_UNITS = 262_144;
/** The reply in the result of a sessions_send. */
export const REPLY_UNITS = 65_536;
/** Input of a tool call as JSON, as it is recorded. */
export const CALL_UNITS = 262_144;
/** How deep it may be nested. */
export const CALL_DEPTH = 64;
