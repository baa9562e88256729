import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Examples import the package by its name, as a host does.
    alias: [
      { find: /^bot-switchboard$/, replacement: src("index.ts") },
      { find: /^bot-switchboard\/(acp|ai-sdk)$/, replacement: src("agents/$1.ts") },
      { find: /^bot-switchboard\/(\w+)$/, replacement: src("adapters/$1/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "forks",
    // The default leaves a core idle, which is half of a machine of two.
    maxWorkers: "100%",
  },
});
