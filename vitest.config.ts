import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One more than the processors of CI: a test waits for half of its time, and may hold several sandboxes.
    maxWorkers: 3,
    // CI builds, boots and fills containers on two processors: what was late there is tried again, and told as retried.
    retry: process.env.CI ? 2 : 0,
  },
});
