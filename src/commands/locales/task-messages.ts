/** The sentences about what works for a session, and an end to it. */
export interface TaskMessages {
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
  /** {state, select} {count, plural}: of the subagents that it waits for */
  readonly "subagents.state": string;
  /** {task} */
  readonly "subagents.info.task": string;
  /** {count, plural} */
  readonly "subagents.info.below": string;
  /** {state, select} */
  readonly "subagents.info.post": string;
  /** {name} */
  readonly "log.title": string;
  /** {name} */
  readonly "log.empty": string;
  /** {name} */
  readonly "log.gone": string;
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
}
