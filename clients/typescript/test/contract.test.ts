/** Compares the package with openapi.yaml. */

import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Client } from "../src/client.js";
import { DocumentOperations } from "../src/document-operations.js";
import { MemoryOperations } from "../src/memory-operations.js";
import { Vault } from "../src/vault.js";

const document = new URL("../../../openapi.yaml", import.meta.url);

test("the committed types are those of openapi.yaml (mend with: npm run types)", async () => {
  const generated = COMMENT_HEADER + astToString(await openapiTS(document));
  expect(readFileSync(new URL("../src/schema.ts", import.meta.url), "utf8") === generated).toBe(true);
});

/** Agents use another client for the Model Context Protocol. */
const ELSEWHERE = ["SpeakMcp"];

/** Methods that are not operations: scopes, accessors, and the short names of vaults. */
const FURTHER = ["constructor", "api", "vault", "memory", "vaultId", "memoryId", "search", "events"];

test("every operation has its method, and every method its operation", () => {
  const { paths } = parse(readFileSync(document, "utf8")) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  const expected = operations
    .filter((id) => !ELSEWHERE.includes(id))
    .map((id) => (id[0] ?? "").toLowerCase() + id.slice(1));
  const methods = [Client, DocumentOperations, MemoryOperations, Vault]
    .flatMap((owner) => Object.getOwnPropertyNames(owner.prototype))
    .filter((name) => !FURTHER.includes(name));
  expect(methods.sort()).toEqual(expected.sort());
});
