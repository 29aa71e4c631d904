// Services of the suite: the program as its user starts it, each on a database of its own.
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:net";
import { openSync } from "node:fs";

const program = process.env.WORKING_MEMORY_BIN;
const folder = process.env.DASHBOARD_FOLDER;

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a service on a new database beside the one of DATABASE_URL. */
export async function startService(name, settings = {}) {
  const url = new URL(process.env.DATABASE_URL);
  const database = `dashboard_${name}_${process.pid}`;
  execFileSync("psql", [process.env.DATABASE_URL, "-qc", `CREATE DATABASE ${database}`]);
  url.pathname = `/${database}`;
  const port = await freePort();
  const log = openSync(`${folder}/${name}.log`, "w");
  const child = spawn(program, ["serve"], {
    stdio: ["ignore", log, log],
    env: {
      ...process.env,
      DATABASE_URL: url.href,
      WORKING_MEMORY__HTTP__BIND: `127.0.0.1:${port}`,
      ...settings,
    },
  });
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error(`${name} did not start: see ${folder}/${name}.log`);
    const ready = await fetch(`${address}/readyz`).then((answer) => answer.ok, () => false);
    if (ready) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const sql = (statements) => execFileSync("psql", [url.href, "-qX", "-v", "ON_ERROR_STOP=1"], { input: statements, stdio: ["pipe", "ignore", "inherit"] });
  return { name, address, port, sql, stop: () => child.kill("SIGTERM"), api: (key) => new Api(address, key) };
}

/** A program that speaks to a service. */
export class Api {
  constructor(address, key) {
    this.address = address;
    this.key = key;
  }

  async ask(method, path, body, headers = {}) {
    const sent = typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body);
    const type = typeof body === "string" ? "text/plain" : "application/json";
    const answer = await fetch(`${this.address}/v1${path}`, {
      method,
      body: sent,
      headers: {
        accept: "application/json",
        ...(sent === undefined ? {} : { "content-type": type }),
        ...(this.key ? { authorization: `Bearer ${this.key}` } : {}),
        ...headers,
      },
    });
    const text = await answer.text();
    return { status: answer.status, body: text && answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text };
  }

  /** The same, where anything but success ends the suite. */
  async must(method, path, body, headers) {
    const answer = await this.ask(method, path, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  put(vault, memory, text, headers) {
    return this.must("PUT", `/vaults/${vault}/memories/${memory}/context`, text, headers);
  }
}
