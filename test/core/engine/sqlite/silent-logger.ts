import type { Logger } from "../../../../src/core/ports/host.ts";

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
