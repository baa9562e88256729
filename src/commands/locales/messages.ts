/** Every sentence that people are answered with. ICU message format; a locale that lacks one does not compile. */
export interface Messages {
  readonly "notice.failed": string;
  readonly "notice.interrupted": string;
  readonly "notice.announceFailed": string;
  readonly "notice.completionFailed": string;
  /** {id} */
  readonly "denied.owner": string;
  /** {usage} */
  readonly "usage.line": string;
  readonly "send.description": string;
  readonly "send.argument": string;
  readonly "send.on": string;
  readonly "send.off": string;
  /** {effective} */
  readonly "send.inherit": string;
  /** {effective} {rule} */
  readonly "send.current": string;
  readonly "send.effective.on": string;
  readonly "send.effective.off": string;
  readonly "status.description": string;
  readonly "status.none": string;
  /** {name} {agent} */
  readonly "status.session": string;
  /** {model} */
  readonly "status.model": string;
  /** {total} */
  readonly "status.tokens": string;
  /** {input} {output} */
  readonly "status.tokens.split": string;
  /** {running, plural} */
  readonly "status.runs": string;
  /** {effective} {rule} */
  readonly "status.send": string;
  readonly "status.lastRunAborted": string;
  readonly "whoami.description": string;
  /** {id} {channel} */
  readonly "whoami.id": string;
  readonly "whoami.owner": string;
  readonly "whoami.notOwner": string;
  readonly "help.description": string;
  readonly "help.title": string;
  readonly "help.ownerOnly": string;
}
