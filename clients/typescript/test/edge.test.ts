/** The core runs with only the APIs that browsers and edge runtimes have in common. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, SourceTextModule, type Module } from "node:vm";
import { expect } from "expect";
import type * as library from "../dist/index.js";
import { sharedUrl } from "./service.js";

test("the core works without anything of Node", async () => {
  const web = createContext({
    ...{ fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal, crypto },
    ...{ TextEncoder, TextDecoder, ReadableStream, setTimeout, clearTimeout, DOMException, performance },
  });
  // Modules of other packages and of Node are not found: every import is a file of the package.
  const modules = new Map<string, Module>();
  const load = (url: URL): Module => {
    const code = readFileSync(url, "utf8");
    expect(code).not.toMatch(/\brequire\(|\bBuffer\b|\bprocess\.|node:/);
    const module = modules.get(url.href) ?? new SourceTextModule(code, { context: web, identifier: url.href });
    modules.set(url.href, module);
    return module;
  };
  const core = load(new URL("../dist/index.js", import.meta.url));
  await core.link((name, from) => {
    expect(name).toMatch(/^\.\//);
    return load(new URL(name, from.identifier));
  });
  await core.evaluate();
  const client = core.namespace as typeof library;

  const memory = new client.Client(sharedUrl()).memory(`v-${randomUUID()}`, "agent-1");
  await memory.put("# Notes\n");
  for await (const event of memory.events({ lastEventId: "0" })) {
    const missing = await memory.versions.get(7).catch((error: unknown) => error instanceof client.NotFoundError);
    const { prompt } = await memory.start({ exclude: "datetime" });
    expect([event.version, missing, prompt]).toEqual([1, true, "# Notes"]);
    return;
  }
});
