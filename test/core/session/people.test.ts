import { describe, expect, it, onTestFinished } from "vitest";
import { scriptedAgent } from "../../../src/agents/scripted-agent.ts";
import { createPeople } from "../../../src/core/session/people.ts";
import { createBasics } from "../../../src/options.ts";
import { openStore } from "../../../src/wiring.ts";
import { aFolder } from "../../fakes/a-board.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";

const [PHONE, NEW_PHONE, LID, NEW_LID] = ["+222", "+444", "111@lid", "333@lid"];

async function people() {
  const options = { agents: { main: scriptedAgent(() => "ok") }, dataDir: aFolder(), clock: fakeClock() };
  const store = await openStore(options, createBasics(options));
  onTestFinished(async () => {
    await store.engine.close();
    store.database.close();
  });
  const known = createPeople(store.storage);
  const others = async (id: string, altIds?: readonly string[]) => {
    const { samePerson } = await known.known("whatsapp", { id, ...(altIds ? { altIds } : {}) });
    return samePerson(id);
  };
  return { ...known, others };
}

describe("CMD-2 I03: which ids are one person", () => {
  it("I03: two that were joined, from either side, whether told now or before; joining again is no news", async () => {
    const { join, known, others } = await people();
    expect(await others(PHONE)).toEqual([]);
    await join("whatsapp", PHONE, LID);
    expect([await others(PHONE), await others(LID)]).toEqual([[LID], [PHONE]]);
    expect((await known("whatsapp", { id: LID, altIds: [PHONE] })).joining).toEqual([]);
    expect(await others(LID, [PHONE])).toEqual([PHONE]);
  });

  it("CMD-2: a number with a new LID is not the old LID's person, from the message on that tells it", async () => {
    const { join, others } = await people();
    await join("whatsapp", PHONE, LID);
    expect(await others(PHONE, [NEW_LID])).toEqual([NEW_LID]);
    await join("whatsapp", PHONE, NEW_LID);
    expect([await others(PHONE), await others(NEW_LID), await others(LID)]).toEqual([[NEW_LID], [PHONE], []]);
  });

  it("CMD-2: a LID with a new number is not the old number's person", async () => {
    const { join, others } = await people();
    await join("whatsapp", PHONE, LID);
    await join("whatsapp", NEW_PHONE, LID);
    expect([await others(LID), await others(NEW_PHONE), await others(PHONE)]).toEqual([
      [NEW_PHONE],
      [LID],
      [],
    ]);
    await join("whatsapp", PHONE, NEW_LID);
    expect([await others(PHONE), await others(LID)]).toEqual([[NEW_LID], [NEW_PHONE]]);
  });
});
