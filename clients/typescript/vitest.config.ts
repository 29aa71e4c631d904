import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "test/shared-service.ts",
    include: ["test/**/*.test.ts"],
    // A loaded machine is slow, and a test that waits for nothing ends at once all the same.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
