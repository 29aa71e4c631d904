import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "test/shared-service.ts",
    include: ["test/**/*.test.ts"],
    // The timeout allows for a loaded machine; it does not slow down tests that succeed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
