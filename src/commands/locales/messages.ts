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
  readonly "tools.description": string;
  /** {tools} */
  readonly "tools.here": string;
  readonly "tools.none": string;
  readonly "tools.removed": string;
  readonly "subagents.description": string;
  readonly "subagents.action": string;
  readonly "subagents.which": string;
  readonly "subagents.none": string;
  readonly "subagents.active": string;
  readonly "subagents.active.none": string;
  /** {hours} */
  readonly "subagents.recent": string;
  /** {hours} */
  readonly "subagents.recent.none": string;
  /** {count} */
  readonly "subagents.more": string;
  /** {state, select} {count, plural}: of the subagents that it waits for */
  readonly "subagents.state": string;
  /** {task} */
  readonly "subagents.info.task": string;
  /** {count, plural} */
  readonly "subagents.info.below": string;
  /** {state, select} */
  readonly "subagents.info.post": string;
  /** {name} */
  readonly "subagents.log.title": string;
  /** {name} */
  readonly "subagents.log.empty": string;
  /** {name} */
  readonly "subagents.log.gone": string;
  /** {count, plural} */
  readonly "subagents.stopped": string;
  /** {name} {state, select} */
  readonly "subagents.ended": string;
  /** {name} */
  readonly "subagents.released": string;
  readonly "subagents.sayWhich": string;
  /** {which} */
  readonly "subagents.unknown": string;
  /** {which} {count} {keys} */
  readonly "subagents.ambiguous": string;
  readonly "stop.description": string;
  readonly "stop.nothing": string;
  /** {what} */
  readonly "stop.done": string;
  /** {count, plural} */
  readonly "stop.runs": string;
  /** {count, plural} */
  readonly "stop.messages": string;
  /** {count, plural} */
  readonly "stop.subagents": string;
  readonly "whoami.description": string;
  /** {id} {channel} */
  readonly "whoami.id": string;
  readonly "whoami.owner": string;
  readonly "whoami.notOwner": string;
  readonly "help.description": string;
  readonly "help.title": string;
  readonly "help.ownerOnly": string;
}
