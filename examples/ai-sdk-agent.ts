import type { LanguageModel } from "ai";
import { aiSdkAgent } from "bot-switchboard/ai-sdk";

/** Agents of the Vercel AI SDK, one of them with a second model that sessions may be switched to. */
export function agents(model: LanguageModel, cheapModel: LanguageModel) {
  // #region readme
  const main = aiSdkAgent({
    model,
    instructions: "You look after our chats. Ask research when you do not know.",
  });
  const research = aiSdkAgent({ model, instructions: "You look things up.", models: { cheap: cheapModel } });
  // #endregion
  return { main, research };
}
