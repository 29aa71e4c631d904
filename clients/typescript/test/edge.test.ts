/** The core runs with only the APIs that browsers and edge runtimes have in common. */

import { runInNewContext } from "node:vm";
import { randomUUID } from "node:crypto";
import { build } from "vite";
import { expect, inject, test } from "vitest";

test("the core works without anything of Node", async () => {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry: new URL("../src/index.ts", import.meta.url).pathname, formats: ["iife"], name: "client" },
    },
  });
  const bundles = (Array.isArray(built) ? built : [built]).flatMap((one) => ("output" in one ? one.output : []));
  expect(bundles).toHaveLength(1);
  const code = (bundles[0] as { code: string }).code;
  expect(code).not.toMatch(/\brequire\(|\bBuffer\b|node:/);
  const web = {
    ...{ fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal, crypto },
    ...{ TextEncoder, TextDecoder, ReadableStream, setTimeout, clearTimeout, DOMException, performance },
    url: inject("url"),
    vault: randomUUID(),
  };
  const result: unknown = await runInNewContext(
    `${code};
    (async () => {
      const memory = new client.Client(url).memory(vault, "agent-1");
      await memory.put("# Notes\\n");
      for await (const event of memory.events({ lastEventId: "0" })) {
        const missing = await memory.versions.get(7).catch((error) => error instanceof client.NotFoundError);
        return JSON.stringify([event.version, missing, (await memory.start({ exclude: "datetime" })).prompt]);
      }
    })()`,
    web,
  );
  expect(JSON.parse(String(result))).toEqual([1, true, "# Notes"]);
});
