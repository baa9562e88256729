import { createOpenAICompatible as provider6 } from "@ai-sdk/openai-compatible";
import * as ai6 from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as ai7 from "ai7";
import { MockLanguageModelV4 } from "ai7/test";
import { createOpenAICompatible as provider7 } from "openai-compatible7";
import { type AiSdkAgentOptions, aiSdkAgent } from "../../src/agents/ai-sdk.ts";
import type { AgentRunner } from "../../src/core/ports/run.ts";
import { type OpenAiStandIn, openAiStandIn } from "../standins/openai.ts";

type Sdk = NonNullable<AiSdkAgentOptions["sdk"]>;
type Model = AiSdkAgentOptions["model"];

export interface SdkVersion {
  readonly version: string;
  readonly sdk: Sdk;
  /** A real model of the real provider package, on the stand-in. */
  model(standIn: OpenAiStandIn, name?: string): Model;
  /** A model that always answers with these parts, for what the stand-in's protocol cannot say. */
  fixedModel(content: readonly object[]): Model;
}

/** Both majors that the package supports, each with the provider package that belongs to it. */
export const sdkVersions: readonly SdkVersion[] = [
  {
    version: "ai 6",
    sdk: ai6,
    model: ({ baseURL }, name = "usual") => provider6({ name: "test", baseURL }).chatModel(name),
    fixedModel: (content) => new MockLanguageModelV3({ doGenerate: answering(content) }),
  },
  {
    version: "ai 7",
    // The package is compiled with the types of 6; of 7 it uses only what has the same shape at run time, which these tests prove.
    sdk: ai7 as unknown as Sdk,
    model: ({ baseURL }, name = "usual") =>
      provider7({ name: "test", baseURL }).chatModel(name) as unknown as Model,
    fixedModel: (content) => new MockLanguageModelV4({ doGenerate: answering(content) }) as unknown as Model,
  },
];

/** A model's answer, whose parts both versions spell alike. */
function answering(content: readonly object[]) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const finishReason = { unified: "stop" as const, raw: "stop" };
  // The two versions type these parts differently; tests write them out.
  return async () => ({ content: content as never[], finishReason, usage, warnings: [] });
}

export interface StandInAgent {
  readonly agent: AgentRunner;
  readonly standIn: OpenAiStandIn;
}

/** An agent of this SDK version whose models live on a stand-in of their own. */
export async function standInAgent(
  { sdk, model }: SdkVersion,
  options: Partial<Omit<AiSdkAgentOptions, "models">> & { readonly models?: readonly string[] } = {},
): Promise<StandInAgent> {
  const standIn = await openAiStandIn();
  const { models, ...rest } = options;
  const named =
    models === undefined
      ? {}
      : { models: Object.fromEntries(models.map((name) => [name, model(standIn, name)])) };
  return { standIn, agent: aiSdkAgent({ model: model(standIn), sdk, ...named, ...rest }) };
}
