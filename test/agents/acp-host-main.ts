import { acpAgent } from "../../src/agents/acp.ts";
import { aRequest } from "../fakes/a-request.ts";

// A host that does nothing but one run, and says what came of it. Its argument holds the options of the agent.

const agent = acpAgent(JSON.parse(process.argv[2] ?? "{}"));
void agent
  .run(aRequest(), new AbortController().signal)
  .then((outcome) => console.log(JSON.stringify(outcome)));
