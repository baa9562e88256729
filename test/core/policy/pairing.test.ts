import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isPaired,
  NO_PAIRINGS,
  openRequests,
  PAIRING_VALID_MS,
  pairingCode,
  typedCode,
  withApproval,
  withDenial,
  withoutPerson,
  withRequest,
} from "../../../src/core/policy/pairing.ts";
import type { PairingRequest, Pairings } from "../../../src/core/ports/pairing.ts";
import { at } from "../session/a-session.ts";

const request = (id: string, over: Partial<PairingRequest> = {}): PairingRequest => ({
  code: `CODE${id}`,
  ids: [id],
  from: at("telegram"),
  deliveryId: `d${id}`,
  atMs: 0,
  ...over,
});
const pending = (...requests: readonly PairingRequest[]): Pairings => ({ ...NO_PAIRINGS, pending: requests });

describe("codes", () => {
  it("IN-1: eight symbols that nobody mixes up, all 32 of them, another one for every seed", () => {
    const codes = Array.from({ length: 2000 }, (_, seed) => pairingCode(String(seed)));
    expect(codes.every((code) => /^[A-HJ-NP-Z2-9]{8}$/.test(code))).toBe(true);
    expect(new Set(codes.join(""))).toHaveProperty("size", 32);
    expect(new Set(codes)).toHaveProperty("size", 2000);
  });

  it("IN-1: a code is itself however it is typed", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.constantFrom(" ", "-", "\n", "`", "\u200b"), { maxLength: 8 }),
        (seed, marks) => {
          const code = pairingCode(seed);
          const typed = [...code.toLowerCase()].map((letter, n) => letter + (marks[n] ?? "")).join("");
          expect(typedCode(typed)).toBe(code);
        },
      ),
    );
  });
});

describe("requests", () => {
  it.each<[string, Pairings, PairingRequest, boolean]>([
    ["the first", NO_PAIRINGS, request("1"), true],
    ["the third", pending(request("1"), request("2")), request("3"), true],
    ["a fourth", pending(request("1"), request("2"), request("3")), request("4"), false],
    ["the same person's second", pending(request("1")), request("1", { code: "OTHER" }), false],
    ["the same person's under another id", pending(request("1", { ids: ["1", "2"] })), request("2"), false],
    [
      "a fourth when one has run out",
      pending(request("1"), request("2", { atMs: 1 }), request("3", { atMs: 1 })),
      request("4", { atMs: PAIRING_VALID_MS }),
      true,
    ],
    [
      "the same person's when the first has run out",
      pending(request("1")),
      request("1", { atMs: PAIRING_VALID_MS }),
      true,
    ],
    [
      "a fourth when one was turned down",
      pending(request("1", { denied: true }), request("2"), request("3")),
      request("4"),
      true,
    ],
    ["one of a person who was turned down", pending(request("1", { denied: true })), request("1"), false],
  ])("IN-1: %s is taken or not", (_, before, added, taken) => {
    const after = withRequest(before, added);
    expect(after !== undefined).toBe(taken);
    expect(after?.pending.at(-1) ?? added).toBe(added);
  });

  it("IN-1: who has run out or was turned down waits no more, and what has run out is forgotten", () => {
    const some = pending(request("1"), request("2", { atMs: 5 }), request("3", { atMs: 5, denied: true }));
    expect(openRequests(some, PAIRING_VALID_MS).map(({ ids }) => ids[0])).toEqual(["2"]);
    const after = withRequest(some, request("4", { atMs: PAIRING_VALID_MS }));
    expect(after?.pending.map(({ ids }) => ids[0])).toEqual(["2", "3", "4"]);
    expect(openRequests(withDenial(some, "CODE2"), PAIRING_VALID_MS)).toEqual([]);
  });

  it("IN-1: an approval names the person by every id, once, until it is taken back", () => {
    const both = request("1", { ids: ["1", "2"] });
    const approved = withApproval(withApproval(pending(both), both, 5), { ...both, ids: ["2", "3"] }, 9);
    expect(approved.pending).toEqual([]);
    expect(approved.approved).toHaveLength(1);
    expect(isPaired(approved, ["3"])).toBe(true);
    expect(isPaired(approved, ["4"])).toBe(false);
    const [person] = approved.approved;
    if (person === undefined) throw new Error("Nobody was approved.");
    expect(withoutPerson(approved, person).approved).toEqual([]);
  });
});
