/** The rules of clients/rules.md, against the server of clients/stub.py. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, describe, test } from "node:test";
import { expect } from "expect";
import { Client, Memory, Vault, responseOf, type ClientOptions } from "../dist/index.js";
import { WAITS } from "../dist/transport.js";
import { frames } from "../dist/sse.js";
import { VERSION } from "../dist/version.js";
import { freePort } from "./service.js";

interface Rule {
  name: string;
  call: "put" | "get" | "update" | "delete" | "create_key" | "list" | "events";
  script: object[];
  retries?: number;
  timeout?: number;
  requests?: number;
  error?: string;
  members?: Record<string, unknown>;
  response?: Record<string, unknown>;
  seconds?: number;
  at_most_seconds?: number;
  last_event_id?: string;
  versions?: number[];
  places?: string[];
}

interface Seen {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string;
}

const here = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const rules = JSON.parse(readFileSync(here("rules.json"), "utf8")) as Rule[];

let stub: ChildProcess;
let url: string;
before(async () => {
  stub = spawn("python3", [here("stub.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(stub.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  url = line.toString().trim();
  WAITS.first = 2;
});
after(() => {
  stub.kill();
});
afterEach(() => {
  for (const name of ["URL", "API_KEY", "ACTOR"]) delete process.env[`WORKING_MEMORY_${name}`];
});

const script = (lines: object[]) => fetch(`${url}/script`, { method: "POST", body: JSON.stringify(lines) });
const seen = async () => (await (await fetch(`${url}/seen`)).json()) as Seen[];
const failure = (promise: Promise<unknown>) => promise.then(() => undefined, (error: unknown) => error as Error);
const PUT = { json: { version: 1 } };

function optionsOf({ retries, timeout }: Rule): ClientOptions {
  const milliseconds = timeout === undefined ? {} : { timeout: timeout * 1000, updateTimeout: timeout * 1000 };
  return { retries, ...milliseconds };
}

async function call(client: Client, { call: name, last_event_id: lastEventId, ...rule }: Rule, found: unknown[]) {
  const memory = client.memory("v", "m");
  switch (name) {
    case "put":
      return memory.put("text");
    case "get":
      return memory.get();
    case "update":
      return memory.update("task");
    case "delete":
      return memory.delete();
    case "create_key":
      return client.keys.create("k", "reader");
    case "list":
      return memory.records.list().page();
    case "events": {
      const wanted = (rule.versions?.length ?? 0) + (rule.error ? 1 : 0);
      for await (const event of client.vault("v").events({ lastEventId })) {
        found.push(event.version);
        if (found.length >= wanted) return undefined;
      }
    }
  }
  return undefined;
}

/** Names of members here and in the table. */
const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

describe("the rules of both clients", () => {
  for (const rule of rules) {
    test(rule.name, async () => {
      await script(rule.script);
      const found: unknown[] = [];
      const began = performance.now();
      let came: unknown;
      const client = new Client(url, optionsOf(rule));
      const error = await failure(call(client, rule, found).then((value) => (came = value)));
      const took = (performance.now() - began) / 1000;
      expect([error?.name, String(error)]).toEqual([rule.error, expect.anything()]);
      for (const [name, value] of Object.entries(rule.members ?? {})) {
        const members = error as unknown as Record<string, unknown> & { members?: Record<string, unknown> };
        expect(members[camel(name)] ?? members.members?.[name]).toEqual(value);
      }
      for (const [name, value] of Object.entries(rule.response ?? {})) {
        expect((responseOf(came as object) as unknown as Record<string, unknown>)[camel(name)]).toEqual(value);
      }
      const requests = await seen();
      if (rule.requests !== undefined) expect(requests).toHaveLength(rule.requests);
      expect(took).toBeGreaterThanOrEqual(rule.seconds ?? 0);
      expect(took).toBeLessThan(rule.at_most_seconds ?? 60);
      const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
      expect([...keys].filter(Boolean)).toHaveLength(["put", "update"].includes(rule.call) ? 1 : 0);
      expect(keys.size).toBe(1);
      const agents = new Set(requests.map(({ headers }) => headers["user-agent"]));
      expect([...agents]).toEqual([`working-memory-client-typescript/${VERSION}`]);
      if (rule.versions) expect(found).toEqual(rule.versions);
      if (rule.places) expect(requests.map(({ headers }) => headers["last-event-id"] ?? "")).toEqual(rule.places);
    });
  }
});

test("settings come from the environment", async () => {
  await script([PUT]);
  process.env.WORKING_MEMORY_URL = `${url}/`;
  process.env.WORKING_MEMORY_API_KEY = "wm_from_there";
  process.env.WORKING_MEMORY_ACTOR = "env";
  await new Client().memory("v", "m").put("text");
  const [{ headers, target } = { headers: {} as Record<string, string>, target: "" }] = await seen();
  expect(headers).toMatchObject({ authorization: "Bearer wm_from_there", "x-actor-id": "env" });
  expect(target).toBe("/v1/vaults/v/memories/m/context");
});

test("bad keys and URLs are refused, and no secret is quoted", async () => {
  for (const key of ["wm_secret b", "wm_secret\nX-Actor-Id: root", "wm_secreté"]) {
    const refused = await failure(Promise.resolve().then(() => new Client(url, { key })));
    expect(refused).toBeInstanceOf(TypeError);
    expect(String(refused)).toContain("the key");
    expect(String(refused)).not.toContain("secret");
    const later = await failure(new Client(url, { key: () => key }).memory("v", "m").get());
    expect(String(later)).toContain("the key");
    expect(String(later)).not.toContain("secret");
  }
  for (const wrong of ["ftp://host", "host", "http://me:secret@host", "http://host?key=secret"]) {
    const refused = await failure(Promise.resolve().then(() => new Client(wrong)));
    expect(refused).toBeInstanceOf(TypeError);
    expect(String(refused)).not.toContain("secret");
  }
});

test("keys and texts are shown nowhere, and options are those of the call", async () => {
  await script([{ ...PUT, headers: { "X-Request-Id": "r-1" } }]);
  const logged: unknown[] = [];
  const client = new Client(url, {
    key: async () => "wm_id_secret",
    actor: "ann",
    headers: { "X-Team": "secret team" },
    logger: (entry) => logged.push(entry),
  });
  const memory = client.memory("v", "m");
  await memory.get({ section: "secret" });
  await memory.put("secret text");
  await memory.put("secret text", { actor: "bob", headers: { "X-Team": "red" }, idempotencyKey: "mine" });
  await memory.finish("secret task", [], { actor: "bob", headers: { "X-Team": "red" } });
  const requests = await seen();
  expect(requests.map(({ headers }) => headers["x-actor-id"])).toEqual([undefined, "ann", "bob", "bob", "bob"]);
  expect(requests.map(({ headers }) => headers["x-team"])).toEqual(["secret team", "secret team", "red", "red", "red"]);
  expect(requests[2]?.headers["idempotency-key"]).toBe("mine");
  expect(requests.every(({ headers }) => headers.authorization === "Bearer wm_id_secret")).toBe(true);
  expect(JSON.stringify(logged) + JSON.stringify(client)).not.toContain("secret");
  expect(logged[1]).toMatchObject({ method: "PUT", path: "/v1/vaults/v/memories/m/context", outcome: 200, requestId: "r-1" });
  await script([{ cut: 1 }]);
  const error = await failure(memory.get({ retries: 1 }));
  expect(String(error) + String(error?.stack) + JSON.stringify(error)).not.toContain("secret");
  expect(await seen()).toHaveLength(2);
});

test("without a connection everything is retried", async () => {
  const attempts: unknown[] = [];
  const client = new Client(`http://127.0.0.1:${await freePort()}`, { logger: (entry) => attempts.push(entry.outcome) });
  expect((await failure(client.keys.create("k", "reader")))?.name).toBe("ConnectionFailedError");
  expect(attempts).toHaveLength(4);
});

test("a signal ends everything", async () => {
  const reason = new Error("enough");
  const memory = new Client(url).memory("v", "m");
  await script([{ silent: 5 }]);
  await expect(memory.get({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 20);
  await expect(memory.get({ signal: stop.signal })).rejects.toBe(reason);
  await script([{ status: 503, problem: "unavailable", headers: { "Retry-After": "50" } }]);
  const later = new AbortController();
  setTimeout(() => later.abort(reason), 50);
  await expect(memory.get({ signal: later.signal })).rejects.toBe(reason);
});

test("a page of another server is no text, no deletion and no stream", async () => {
  await script([{ text: "<html>welcome to the hotel</html>" }]);
  const memory = new Client(url).memory("memories", "m");
  for (const wrong of [
    () => memory.window.text(),
    () => memory.items.getPromptContent(),
    () => memory.delete(),
    () => memory.events().next(),
    () => memory.updates.watch("task").next(),
  ]) {
    expect((await failure(wrong()))?.name).toBe("InvalidAnswerError");
  }
  expect((await seen()).map(({ target }) => target)[3]).toBe("/v1/vaults/memories/events?memory_id=m");
});

test("only what may have been deleted is", async () => {
  const gone = { status: 404, problem: "not-found" };
  const memory = new Client(url).memory("v", "m");
  await script([{ status: 429, problem: "too-many-requests" }, gone]);
  expect((await failure(memory.delete()))?.name).toBe("NotFoundError");
  await script([{ status: 504, text: "" }, gone]);
  await memory.delete();
});

test("an update is watched as soon as it is let in, and a silent stream ends", async () => {
  await script([{ status: 429, problem: "too-many-requests" }, { stream: ['event: done\ndata: {"version": 1}\n\n'] }]);
  const steps = new Client(url).memory("v", "m").updates.watch("task");
  expect((await steps.next()).value).toMatchObject({ name: "done", answer: { version: 1 } });
  const silent = frames(new ReadableStream<Uint8Array>(), undefined, 20);
  expect((await failure(silent.next()))?.name).toBe("TimedOutError");
});

test("a change that never gets through ends, after pauses that grow", async (t) => {
  t.mock.method(Math, "random", () => 0.1);
  const moved = { status: 412, problem: "precondition-failed" };
  await script(Array.from({ length: 10 }, () => [{ json: { context: "a", context_id: "c" } }, moved]).flat());
  const began = performance.now();
  const error = await failure(new Client(url).memory("v", "m").change((text) => text));
  expect(error?.name).toBe("PreconditionFailedError");
  expect(performance.now() - began).toBeGreaterThan(400);
  expect(await seen()).toHaveLength(20);
});

test("a call that waits for models waits longer than Node's fetch does", async (t) => {
  const server = createServer((_, response) => {
    setTimeout(() => response.setHeader("content-type", "application/json").end('{"version": 1}'), 2_500);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const name = Symbol.for("undici.globalDispatcher.1");
  const scope = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>;
  const usual = scope[name]!;
  // Gives up after half a second instead of 300.
  scope[name] = new usual.constructor({ headersTimeout: 500 });
  t.after(() => {
    scope[name] = usual;
    server.close();
  });
  const memory = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { retries: 0 }).memory("v", "m");
  expect((await failure(memory.get()))?.message).toContain("Headers Timeout");
  expect(await memory.update("task")).toMatchObject({ version: 1 });
});

test("a wrong option of a stream is no lost connection", async () => {
  const stream = new Client(url).vault("v").events({ lastEventId: "ü" });
  expect(await failure(stream.next())).toBeInstanceOf(TypeError);
});

test("a text is sent as it is or not at all, and a time may have no end", async () => {
  await script([PUT]);
  const memory = new Client(`${url} `, { timeout: Infinity }).memory("v", "m");
  await memory.put("😀");
  await expect(memory.put("😀".slice(0, 1))).rejects.toThrow("surrogate");
  for (const number of [NaN, -Infinity]) {
    await expect(memory.put({ a: [number] })).rejects.toThrow(`no number ${number}`);
  }
  const half = [{ role: "user", content: "😀".slice(0, 1) }];
  await expect(memory.update("task", half)).rejects.toThrow("surrogate");
  // Plain JavaScript may pass another iterable, which JSON would not have.
  const iterable = new Set(half) as unknown as typeof half;
  expect(() => memory.update("task", iterable)).toThrow("messages are a list");
  expect((await seen()).map(({ body }) => body)).toEqual(["😀"]);
});

test("what is no document is not replaced, nor by what is no text", async () => {
  await script([{ json: { message: "warming up" } }]);
  const memory = new Client(url).memory("v", "m");
  await expect(memory.change((text) => text)).rejects.toThrow("is not the service's");
  await script([{ json: { context: "text", context_id: "c" } }]);
  const later = (async (text: string) => text) as unknown as (text: string) => string;
  await expect(memory.change(later)).rejects.toThrow("returned no text");
  expect((await seen()).map(({ method }) => method)).toEqual(["GET"]);
  for (const document of [Buffer.from("text"), Promise.resolve("text")]) {
    expect(() => memory.put(document as unknown as string)).toThrow("a text or an object");
  }
});

test("a query is sent wherever it was written, and null is none", async () => {
  await script([PUT]);
  const client = new Client(url);
  await client.request("GET", "/v1/vaults?limit=1", { query: { cursor: "c", prefix: null } });
  expect((await seen()).map(({ target }) => target)).toEqual(["/v1/vaults?limit=1&cursor=c"]);
});

test("a session ends though its handoff cannot be made", async () => {
  await script([PUT, { status: 503, text: "" }]);
  const answer = await new Client(url, { retries: 0 }).memory("v", "m").finish("task");
  expect(answer.version).toBe(1);
  expect((await seen()).map(({ target }) => target.split("/").pop())).toEqual(["update", "refresh"]);
});

test("ids cannot lead elsewhere, and headers are checked", async () => {
  await script([PUT]);
  const client = new Client(url);
  for (const bad of ["", ".", ".."]) expect(() => client.memory("v", bad)).toThrow("not an id");
  await client.memory("a/b", "c?d#e%f ü").info();
  await expect(client.memory("v", "m").put("text", { actor: "a\nb" })).rejects.toThrow("x-actor-id");
  await expect(client.memory("v", "m").get({ timeout: 0 })).rejects.toBeInstanceOf(RangeError);
  expect((await seen()).map(({ target }) => target)).toEqual(["/v1/vaults/a%2Fb/memories/c%3Fd%23e%25f%20%C3%BC"]);
});

test("a memory has few names, and the version is that of the package", () => {
  const names = (kind: { prototype: object }) => Object.getOwnPropertyNames(kind.prototype);
  expect(names(Memory).length).toBeLessThanOrEqual(30);
  expect(names(Vault).length).toBeLessThanOrEqual(30);
  const own = JSON.parse(readFileSync(here("typescript/package.json"), "utf8")) as { version: string };
  expect(VERSION).toBe(own.version);
});

test("both clients have the same names", async () => {
  const python = readFileSync(here("python/src/working_memory_client/_client.py"), "utf8");
  const block = /class _MemoryMethods:\n((?: {4}.*\n)+)/.exec(python)?.[1] ?? "";
  const theirs = [...block.matchAll(/^ {4}(\w+) =/gm)].map(([, name]) => name);
  const ours = Object.getOwnPropertyNames(Memory.prototype).filter((name) => name !== "constructor");
  expect(ours.sort()).toEqual(theirs.sort());
});

test("events are read in whatever pieces they come", async () => {
  const text =
    ": hello\r\n\r\nretry: 2000\nid: 0\n\nid: 1-a\r\nevent: version\ndata: {}\r\n\r\ndata:two\ndata: lines ✓\nother: x\n\nid: 3\ndata: cut";
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size < 30; size++) {
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        for (let at = 0; at < bytes.length; at += size) stream.enqueue(bytes.slice(at, at + size));
        stream.close();
      },
    });
    const read = [];
    for await (const frame of frames(body, () => {})) read.push(frame);
    expect(read).toEqual([
      { event: "message", data: undefined, id: "0", retry: 2000 },
      { event: "version", data: "{}", id: "1-a", retry: undefined },
      { event: "message", data: "two\nlines ✓", id: undefined, retry: undefined },
    ]);
  }
});
