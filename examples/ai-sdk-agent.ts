import type { LanguageModel } from "ai";
import { aiSdkAgent } from "bot-switchboard/ai-sdk";

/** Options for two agents of the Vercel AI SDK, of which `main` may ask `research`. */
export function twoAgents(model: LanguageModel) {
  // #region readme
  const agents = {
    main: aiSdkAgent({ model, instructions: "You look after our chats. Ask research when you do not know." }),
    research: aiSdkAgent({ model, instructions: "You look things up." }),
  };
  const allow = [{ from: "main", to: "research", read: false, send: true }];
  const config = { tools: { agentToAgent: { enabled: true, allow } } }; // createSwitchboard({ agents, config, … })
  // #endregion
  return { agents, config };
}
