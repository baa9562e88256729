import { expect, it } from "vitest";
import { withheldLately, withOneWithheld } from "../../../src/core/delivery/withheld.ts";
import { storedSession } from "../../fakes/store-files.ts";

const HOUR_MS = 3_600_000;

it("POL-3: a reply that was withheld is counted once, whoever writes it twice, and after a day of nothing anew", () => {
  const session = storedSession(1, "agent:main:main", {});
  expect(withheldLately(session, 0)).toBeUndefined();
  const one = withOneWithheld(session, "a>reply", 1000);
  expect(withOneWithheld(one, "a>reply", 2000)).toBe(one);
  const two = withOneWithheld(one, "b>reply", 20 * HOUR_MS);
  expect(withheldLately(two, 43 * HOUR_MS)).toMatchObject({ count: 2, sinceMs: 1000 });
  expect(withheldLately(two, 44 * HOUR_MS)).toBeUndefined();
  const anew = withOneWithheld(two, "c>reply", 44 * HOUR_MS);
  expect(withheldLately(anew, 44 * HOUR_MS)).toMatchObject({ count: 1, sinceMs: 44 * HOUR_MS });
});
