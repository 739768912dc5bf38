import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test file may hold several sandboxes, each an interpreter in a process of its own.
    maxWorkers: 2,
  },
});
