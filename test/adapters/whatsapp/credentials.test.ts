import { inspect } from "node:util";
import { BufferJSON, initAuthCreds } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import { secretsOf } from "../../../src/adapters/whatsapp/credentials.ts";
import { createRedactor } from "../../../src/core/transcript/redact.ts";
import { leaks } from "../../core/transcript/secret-samples.ts";

/** Credentials as Baileys makes them for a new account, in the middle of pairing. */
function someCredentials() {
  return { ...initAuthCreds(), pairingCode: "AB12CD34" };
}

const WAYS: Readonly<Record<string, (what: object) => string>> = {
  "as the file has them": (what) => JSON.stringify(what, BufferJSON.replacer),
  "as the file has them, indented": (what) => JSON.stringify(what, BufferJSON.replacer, 2),
  "in JSON in JSON": (what) => JSON.stringify({ text: JSON.stringify(what, BufferJSON.replacer) }),
  "as Node.js prints them": (what) => inspect(what, { depth: 9 }),
};

describe("HIST-5: the credentials of a WhatsApp account", () => {
  it.each(Object.entries(WAYS))(
    "HIST-5, G03: %s, are masked by name, and by value once they are live",
    (_way, write) => {
      const credentials = someCredentials();
      const secrets = secretsOf(credentials);
      expect(secrets).toHaveLength(10);
      const text = write(credentials);
      const byName = createRedactor().redact(text).text;
      const byValue = createRedactor({ registered: secrets, patterns: false }).redact(text).text;
      for (const secret of secrets) {
        expect(leaks(byName, secret)).toBe(false);
        expect(leaks(byValue, secret)).toBe(false);
      }
      expect(byName).toContain("registrationId");
    },
  );

  it.each(["+", "/", "a"])(
    "HIST-5, G03: a key that begins with %j is masked however it is written",
    (beginning) => {
      const advSecretKey = `${beginning}muCKSamzcBTkaEEQxkZ56M7v1Vv6hmZiLdh0zMXg9w=`;
      for (const write of Object.values(WAYS)) {
        expect(leaks(createRedactor().redact(write({ advSecretKey })).text, advSecretKey)).toBe(false);
      }
    },
  );

  it("HIST-5: there are none without a socket, and none that a socket does not have", () => {
    expect(secretsOf(undefined)).toEqual([]);
    expect(secretsOf({ advSecretKey: "only-this-one" })).toEqual(["only-this-one"]);
  });
});
