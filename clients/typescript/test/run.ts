/** Runs all tests beside one service, for those that do not change its state for others. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Service } from "./service.js";

const folder = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
const service = await Service.start();
try {
  const tests = spawn(process.execPath, ["--experimental-vm-modules", "--no-warnings", "--test", "--test-reporter=spec", "--test-timeout=180000", ...files], {
    cwd: folder,
    env: { ...process.env, SHARED_SERVICE_URL: service.url },
    stdio: "inherit",
  });
  const [code] = (await once(tests, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await service.remove();
}
