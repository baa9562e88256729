import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { SwitchboardError } from "../../src/core/errors.ts";
import { maskedLogger } from "../../src/core/logger.ts";
import type { Logger } from "../../src/core/ports/host.ts";
import { createRedactor } from "../../src/core/transcript/redact.ts";

const SECRET = "Staple-Battery-Horse";

/** The lines that a pino of the host writes. */
function aLogger(): { readonly logger: Logger; readonly lines: () => readonly string[] } {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  const exact = createRedactor({ registered: [SECRET], patterns: false });
  const logger = maskedLogger(pino({ level: "debug" }, stream), (text) => exact.redact(text).text);
  return { logger, lines: () => written };
}

describe("HIST-5: live secrets and the log of the host", () => {
  it("HIST-5: neither the sentence nor any detail shows one, at any level", () => {
    const { logger, lines } = aLogger();
    const details = {
      url: `https://h/${SECRET}/x`,
      list: [1, { deep: { er: SECRET } }],
      [SECRET.length]: null,
    };
    for (const level of ["debug", "info", "warn", "error"] as const)
      logger[level](details, `It is ${SECRET}.`);
    expect(lines()).toHaveLength(4);
    expect(lines().join()).not.toContain(SECRET);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({
      msg: "It is Staple…orse.",
      url: "https://h/Staple…orse/x",
      list: [1, { deep: { er: "Staple…orse" } }],
    });
  });

  it("HIST-5: errors stay errors, without it in message, stack, cause or details", () => {
    const { logger, lines } = aLogger();
    const cause = new TypeError(`because of ${SECRET}`);
    const error = new SwitchboardError("INTERNAL", `no ${SECRET}`, { cause, details: { of: SECRET } });
    logger.error({ err: error }, "Failed");
    expect(lines().join()).not.toContain(SECRET);
    const { err } = JSON.parse(lines()[0] ?? "");
    expect(err).toMatchObject({ type: "SwitchboardError", code: "INTERNAL", details: { of: "Staple…orse" } });
    expect(err.stack).toContain("logger.test");
    // The host's own object is not touched.
    expect([error.message, cause.message, error.details]).toEqual([
      `no ${SECRET}`,
      `because of ${SECRET}`,
      { of: SECRET },
    ]);
  });

  it("HIST-5: what goes round in circles, or is no plain object, is logged all the same", () => {
    const { logger, lines } = aLogger();
    const circle: { [name: string]: unknown } = { at: new Date(0), secret: SECRET };
    circle.self = circle;
    logger.info(circle, "Round and round");
    expect(lines()[0]).toContain('"at":"1970-01-01T00:00:00.000Z"');
    expect(lines().join()).not.toContain(SECRET);
  });
});
