/** Retries, timeouts and keys, against a faulty server. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  Client,
  ConnectionError,
  ModelError,
  ProtocolError,
  TimeoutError,
  TooManyRequestsError,
  UnavailableError,
  type ClientOptions,
} from "../src/index.js";
import { frames } from "../src/sse.js";

type Step = (request: IncomingMessage, response: ServerResponse) => void;

const servers: (() => void)[] = [];
afterEach(() => servers.splice(0).forEach((close) => close()));

/** A server that answers requests by these steps, then repeats the last one, and records the requests. */
async function serving(...steps: Step[]) {
  const seen: {
    method: string;
    url: string;
    key: string | undefined;
    body: string;
    headers: IncomingMessage["headers"];
  }[] = [];
  const listener: RequestListener = (request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, key: headers["idempotency-key"] as string | undefined, body, headers });
      (steps[Math.min(seen.length, steps.length) - 1] as Step)(request, response);
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(() => (server.closeAllConnections(), server.close()));
  const client = (options: ClientOptions = {}) =>
    new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, options);
  return { seen, client };
}

const ok =
  (body: unknown): Step =>
  (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
const problem =
  (status: number, kind: string, headers: Record<string, string> = {}): Step =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/problem+json", ...headers }).end(
      JSON.stringify({
        type: `urn:working-memory:problem:${kind}`,
        title: kind,
        status,
        detail: `it is ${kind}`,
        limit: 5,
      }),
    );
const cut: Step = (request) => request.socket.destroy();
const cutInside: Step = (request, response) => {
  response
    .writeHead(200, { "content-type": "application/json", "content-length": "1000" })
    .write("{", () => request.socket.destroy());
};

test("what fails in passing is sent again under one key", async () => {
  const { seen, client } = await serving(
    cut,
    problem(503, "unavailable", { "retry-after": "0" }),
    cutInside,
    ok({ version: 1 }),
  );
  const answer = await client().memory("team", "a:b").put("text");
  expect(answer).toEqual({ version: 1 });
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ key, body, url }) => JSON.stringify([key, body, url]))).size).toBe(1);
  expect(seen[0]).toMatchObject({ method: "PUT", body: '"text"' });
  expect(decodeURIComponent(seen[0]?.url ?? "")).toBe("/base/v1/vaults/team/memories/a:b/context");
  expect(seen[0]?.key).toMatch(/^[0-9a-f]{32}$/);
});

test("a caller's key is kept, each call without one has its own", async () => {
  const { seen, client } = await serving(ok({}));
  const memory = client().memory("team", "a");
  await memory.put("text", { idempotencyKey: "mine" });
  await memory.put("text");
  await memory.put("text");
  expect(seen[0]?.key).toBe("mine");
  expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
});

test("Retry-After is waited for, in seconds or as a date", async () => {
  const { client } = await serving(problem(429, "too-many-requests", { "retry-after": "1" }), ok({ version: 1 }));
  const began = performance.now();
  await client().memory("team", "a").get();
  expect(performance.now() - began).toBeGreaterThan(990);
  const dated = await serving(
    problem(503, "unavailable", { "retry-after": new Date(Date.now() - 5000).toUTCString() }),
    ok({ version: 1 }),
  );
  expect(await dated.client().memory("team", "a").get()).toEqual({ version: 1 });
});

test("a wait that is too long is told at once", async () => {
  const { seen, client } = await serving(problem(429, "too-many-requests", { "retry-after": "3600" }));
  const error: unknown = await client()
    .memory("team", "a")
    .get()
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(TooManyRequestsError);
  expect(error).toMatchObject({ retryAfter: 3600, limit: 5 });
  expect(seen).toHaveLength(1);
});

test("it gives up after so many attempts", async () => {
  const { seen, client } = await serving(problem(503, "unavailable", { "retry-after": "0" }));
  await expect(client({ retries: 2 }).memory("team", "a").put("x")).rejects.toBeInstanceOf(UnavailableError);
  expect(seen).toHaveLength(3);
});

test("what may have happened and has no key is not sent again", async () => {
  const { seen, client } = await serving(cut);
  await expect(client().memory("team", "a").deleteMemory()).rejects.toBeInstanceOf(ConnectionError);
  await expect(client().createKey({ name: "ann", role: "reader" })).rejects.toBeInstanceOf(ConnectionError);
  expect(seen.map(({ method, key }) => [method, key])).toEqual([
    ["DELETE", undefined],
    ["POST", undefined],
  ]);
});

test("a model's failure is the caller's to repeat, a gateway's is not", async () => {
  const failing = await serving(problem(502, "model-failed"));
  await expect(failing.client().memory("team", "a").finish("x")).rejects.toBeInstanceOf(ModelError);
  expect(failing.seen).toHaveLength(1);
  const gateway: Step = (_, response) =>
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad\n gateway</h1>");
  const behind = await serving(gateway, ok({ status: "applied" }));
  expect(await behind.client().memory("team", "a").finish("x")).toEqual({ status: "applied" });
  const always = await serving(gateway);
  const error: unknown = await always
    .client({ retries: 0 })
    .memory("team", "a")
    .get()
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ProtocolError);
  expect(String(error)).toContain("502");
});

test("a request that still runs under its key is asked for again", async () => {
  const { seen, client } = await serving(problem(409, "still-running", { "retry-after": "0" }), ok({ version: 1 }));
  await client().memory("team", "a").put("x");
  expect(seen).toHaveLength(2);
  const conflict = await serving(problem(409, "conflict"));
  await expect(conflict.client().memory("team", "a").put("x")).rejects.toMatchObject({ kind: "conflict" });
  expect(conflict.seen).toHaveLength(1);
});

test("silence ends with the time-out, and a signal ends everything", async () => {
  const { client } = await serving(() => {});
  await expect(client({ timeout: 30 }).memory("team", "a").get()).rejects.toBeInstanceOf(TimeoutError);
  await expect(client().memory("team", "a").put("x", { timeout: 30 })).rejects.toBeInstanceOf(TimeoutError);
  const reason = new Error("enough");
  await expect(
    client()
      .memory("team", "a")
      .get({ signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
  const stop = new AbortController();
  const waiting = client().memory("team", "a").get({ signal: stop.signal });
  setTimeout(() => stop.abort(reason), 20);
  await expect(waiting).rejects.toBe(reason);
  const refusing = await serving(problem(503, "unavailable", { "retry-after": "50" }));
  const later = new AbortController();
  const pausing = refusing.client().memory("team", "a").get({ signal: later.signal });
  setTimeout(() => later.abort(reason), 50);
  await expect(pausing).rejects.toBe(reason);
});

test("the key goes with every request and into no error", async () => {
  const { seen, client } = await serving(problem(404, "not-found"));
  const error: unknown = await client({ key: async () => "wm_secret" })
    .memory("team", "a")
    .get()
    .catch((error: unknown) => error);
  expect(seen[0]?.headers.authorization).toBe("Bearer wm_secret");
  expect(JSON.stringify(error) + String(error) + (error as Error).stack).not.toContain("wm_secret");
  const nobody: unknown = await new Client("http://127.0.0.1:1", { key: "wm_secret", retries: 0 })
    .listVaults()
    .all()
    .catch((error: unknown) => error);
  expect(nobody).toBeInstanceOf(ConnectionError);
  expect(String(nobody)).not.toContain("wm_secret");
  expect(() => new Client("http://me:secret@host")).toThrow("option key");
  expect(() => new Client("ftp://host")).toThrow("http://");
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
