import type { TaskMessages } from "./task-messages.ts";

/** Every sentence that people are answered with. ICU message format; a locale that lacks one does not compile. */
export interface Messages extends TaskMessages {
  readonly "notice.failed": string;
  readonly "notice.interrupted": string;
  readonly "notice.announceFailed": string;
  readonly "notice.completionFailed": string;
  /** {id} */
  readonly "denied.owner": string;
  /** {usage} */
  readonly "usage.line": string;
  /** {words} */
  readonly "usage.words": string;
  /** {usage} */
  readonly "usage.slip": string;
  readonly "send.description": string;
  readonly "send.argument": string;
  readonly "send.on": string;
  readonly "send.off": string;
  /** {effective} */
  readonly "send.inherit": string;
  /** {effective} {rule} */
  readonly "send.current": string;
  /** {count, plural} {age} */
  readonly "send.withheld": string;
  readonly "send.effective.on": string;
  readonly "send.effective.off": string;
  readonly "send.tap.on": string;
  readonly "send.tap.off": string;
  readonly "send.tap.inherit": string;
  readonly "status.description": string;
  readonly "status.none": string;
  /** {time} {zone} */
  readonly "status.time": string;
  /** {name} {agent} */
  readonly "status.session": string;
  /** {key} */
  readonly "status.key": string;
  /** {label} */
  readonly "status.label": string;
  /** {age} */
  readonly "status.age": string;
  /** {age} */
  readonly "status.archived": string;
  /** {model} */
  readonly "status.model": string;
  /** {model} */
  readonly "status.model.override": string;
  /** {model} */
  readonly "status.model.lastRun": string;
  /** {total} */
  readonly "status.tokens": string;
  /** {input} {output} */
  readonly "status.tokens.split": string;
  /** {count} */
  readonly "status.cacheRead": string;
  /** {count} */
  readonly "status.cacheWritten": string;
  /** {cost} */
  readonly "status.cost": string;
  /** {used} {window} {share} */
  readonly "status.context": string;
  /** {window} */
  readonly "status.context.window": string;
  /** {level} */
  readonly "status.thinking": string;
  /** {level} */
  readonly "status.verbose": string;
  readonly "status.idle": string;
  /** {time} */
  readonly "status.running": string;
  /** {count, plural} */
  readonly "status.queued": string;
  readonly "status.yielded": string;
  /** {status, select} {runtime} {age} */
  readonly "status.lastRun": string;
  /** {name} */
  readonly "status.task": string;
  /** {requester} */
  readonly "status.task.requester": string;
  /** {left} */
  readonly "status.task.left": string;
  /** {count, plural} */
  readonly "status.subagents": string;
  /** {effective} {rule} */
  readonly "status.send": string;
  /** {channel} {to} */
  readonly "status.route": string;
  readonly "status.lastRunAborted": string;
  readonly "sessions.description": string;
  readonly "sessions.action": string;
  readonly "sessions.which": string;
  readonly "sessions.text": string;
  readonly "sessions.title": string;
  readonly "sessions.archived.title": string;
  readonly "sessions.none": string;
  readonly "sessions.archived.none": string;
  readonly "sessions.roomsOnly": string;
  readonly "sessions.running": string;
  /** {kind, select} */
  readonly "sessions.kind": string;
  /** {age} */
  readonly "sessions.age": string;
  /** {next} */
  readonly "sessions.more": string;
  readonly "sessions.tap.more": string;
  /** {name} {label} */
  readonly "sessions.labelled": string;
  /** {name} {label} */
  readonly "sessions.unlabelled": string;
  /** {name} */
  readonly "sessions.unlabelled.none": string;
  readonly "sessions.label.invalid": string;
  /** {label} */
  readonly "sessions.label.inUse": string;
  /** {name} */
  readonly "sessions.archived": string;
  /** {name} */
  readonly "sessions.unarchived": string;
  readonly "sessions.tap.unarchive": string;
  readonly "sessions.sayWhich": string;
  /** {which} */
  readonly "sessions.unknown": string;
  /** {which} */
  readonly "sessions.notListed": string;
  /** {which} {count} */
  readonly "sessions.ambiguous": string;
  readonly "agents.description": string;
  readonly "agents.title": string;
  readonly "agents.default": string;
  /** {count, plural} {more, select}: true when there are more than that */
  readonly "agents.sessions": string;
  /** {count, plural} */
  readonly "agents.running": string;
  readonly "tools.description": string;
  /** {tools} */
  readonly "tools.here": string;
  readonly "tools.none": string;
  readonly "tools.removed": string;
  /** {count} */
  readonly "list.more": string;
  readonly "deliveries.description": string;
  readonly "deliveries.action": string;
  readonly "deliveries.which": string;
  /** {scope, select} */
  readonly "deliveries.none": string;
  readonly "deliveries.onlyWaiting": string;
  readonly "deliveries.waiting": string;
  /** {count, plural} {age} */
  readonly "deliveries.waiting.count": string;
  readonly "deliveries.dead": string;
  /** {failed} {uncertain} {reason} */
  readonly "deliveries.dead.count": string;
  /** {number} {state, select} {age} */
  readonly "deliveries.dead.row": string;
  /** {count} */
  readonly "deliveries.more": string;
  readonly "deliveries.elsewhere": string;
  readonly "deliveries.how": string;
  readonly "deliveries.sayWhich": string;
  /** {which} */
  readonly "deliveries.unknown": string;
  /** {count, plural} */
  readonly "deliveries.retried": string;
  readonly "deliveries.notRetried": string;
  /** {count, plural} */
  readonly "deliveries.dismissed": string;
  readonly "new.description": string;
  readonly "new.text": string;
  readonly "new.done": string;
  readonly "new.none": string;
  readonly "pair.description": string;
  readonly "pair.action": string;
  readonly "pair.which": string;
  /** {code} {id} */
  readonly "pair.reply": string;
  readonly "pair.off": string;
  readonly "pair.pending": string;
  readonly "pair.pending.none": string;
  /** {code} {who} {age} */
  readonly "pair.request": string;
  readonly "pair.people": string;
  readonly "pair.people.none": string;
  /** {who} {age} */
  readonly "pair.person": string;
  /** {count} */
  readonly "pair.more": string;
  readonly "pair.inDirect": string;
  readonly "pair.sayWhich": string;
  readonly "pair.unknownCode": string;
  readonly "pair.unknownPerson": string;
  /** {which} */
  readonly "pair.severalPeople": string;
  /** {who} */
  readonly "pair.approved": string;
  /** {who} */
  readonly "pair.denied": string;
  /** {who} */
  readonly "pair.removed": string;
  readonly "whoami.description": string;
  /** {id} {channel} */
  readonly "whoami.id": string;
  readonly "whoami.owner": string;
  readonly "whoami.notOwner": string;
  readonly "help.description": string;
  readonly "help.title": string;
  readonly "help.ownerOnly": string;
}
