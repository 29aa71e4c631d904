/** Starts the program for tests, with a database of its own. */

import { spawn, type ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The program: `WORKING_MEMORY_BIN`, or the one that the checkout builds. */
export function program(): string {
  return (
    process.env.WORKING_MEMORY_BIN ?? execFileSync("sh", ["scripts/program.sh"], { cwd: ROOT, encoding: "utf8" }).trim()
  );
}

/** The service that `run.ts` started for all tests. */
export function sharedUrl(): string {
  const url = process.env.SHARED_SERVICE_URL;
  if (!url) throw new Error("run the tests with npm test");
  return url;
}

/** A free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** A service with its own database, which can be killed and started again. */
export class Service {
  readonly #folder = mkdtempSync(join(tmpdir(), "working-memory-"));
  readonly #port: number;
  readonly #bin: string;
  #process: ChildProcess | undefined;
  #log = "";

  private constructor(port: number, bin: string) {
    this.#port = port;
    this.#bin = bin;
    // As root, the service becomes another account.
    chmodSync(this.#folder, 0o711);
  }

  static async start(): Promise<Service> {
    const service = new Service(await freePort(), program());
    await service.start();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The settings of another command on the same database. */
  get environment(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(([name]) => !/^(WORKING_MEMORY_|DATABASE_URL)/.test(name));
    return {
      ...Object.fromEntries(own),
      WORKING_MEMORY__HTTP__BIND: `127.0.0.1:${this.#port}`,
      WORKING_MEMORY__DATABASE__DATA_DIR: join(this.#folder, "data"),
    };
  }

  async start(): Promise<void> {
    const child = spawn(this.#bin, ["serve"], {
      env: this.environment,
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.#log += text));
    this.#process = child;
    for (let tries = 0; tries < 900; tries++) {
      if (child.exitCode !== null) break;
      const ready = await fetch(`${this.url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (ready) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the service did not start:\n${this.#log}`);
  }

  /** Kills the process, or lets it shut down. */
  async stop(signal: "SIGKILL" | "SIGTERM" = "SIGTERM"): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
