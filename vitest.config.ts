import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test file may hold several sandboxes, each an interpreter in a process of its own.
    maxWorkers: 2,
    // CI builds, boots and fills containers on two processors: what was late there is tried again, and told as retried.
    retry: process.env.CI ? 2 : 0,
  },
});
