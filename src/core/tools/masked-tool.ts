import type { Json } from "../ports/host.ts";
import { isFailure } from "../runs/recorder.ts";
import { everyText } from "../transcript/prompt.ts";
import type { Redactor } from "../transcript/redact.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import type { Answer, Tool } from "./define-tool.ts";

export interface Masks {
  readonly redactor: Redactor;
  readonly exactRedactor: Redactor;
}

/**
 * A tool whose answers cannot hold a live secret, wherever it was picked up; the sentences of failures, which repeat what others named, hold none that
 * can be recognised. What people and agents wrote is masked by each tool itself.
 */
export function maskedTool(tool: Tool, masks: Masks): Tool {
  return {
    ...tool,
    async call(input, caller, call) {
      const { value, ...rest } = await tool.call(input, caller, call);
      return { value: maskedAnswer(value, masks), ...rest };
    },
  };
}

function maskedAnswer(answer: Answer, { redactor, exactRedactor }: Masks): Answer {
  const failed = isFailure(answer);
  if (!failed && !holdsRegistered(answer, exactRedactor)) return answer;
  const { redact } = failed ? redactor : exactRedactor;
  // Answers are JSON, and an object stays one.
  const masked = everyText(answer as Json, (text) => redact(text).text) as Answer;
  return masked === answer ? answer : { ...masked, contentRedacted: true, notice: MASK_NOTICE };
}

function holdsRegistered(answer: Answer, redactor: Redactor): boolean {
  return redactor.size() > 0 && redactor.registeredIn(JSON.stringify(answer));
}
