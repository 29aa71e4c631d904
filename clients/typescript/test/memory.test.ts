import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { Client, ConflictError, InvalidError, NotFoundError, PreconditionFailedError } from "../src/index.js";

const client = new Client(inject("url"), { actor: "tester" });
const fresh = () => client.memory(`v-${randomUUID()}`, "agent-1");

test("a first session begins with nothing, and the next one with what the first left", async () => {
  const memory = fresh();
  expect(await memory.start({ maxTokens: 1000 })).toEqual({
    prompt: "",
    handoff: "",
    version: null,
    contextId: null,
    tokens: 0,
  });

  const messages = [
    { role: "user", content: "Remember that the deploy key of the staging cluster expires on 2027-03-01." },
    { role: "assistant", content: "Noted. I wrote the rotation script." },
  ];
  const record = { intent: "Rotate the deploy key", summary: "Wrote the rotation script.", task_id: "rotate-1" };
  const answer = await memory.finish("Wrote the rotation script for the deploy key.", messages, { record });
  expect(answer).toMatchObject({ status: "applied", version: 1 });

  const session = await memory.start({ maxTokens: 4000 });
  expect(session.version).toBe(1);
  expect(session.prompt).toContain("Rotate the deploy key");
  expect(session.handoff).toContain("## Start Here");
  expect(session.tokens).toBeGreaterThan(0);

  const again = await memory.finish("Wrote the rotation script for the deploy key.", messages, { record });
  expect(again).toMatchObject({ status: "unchanged", version: 1 });
});

test("messages go as the SDKs have them", async () => {
  const memory = fresh();
  const messages = [
    { role: "user", content: [{ type: "text", text: "From now on always use pnpm in this repository." }] },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "bash", input: { command: "pnpm i" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "done" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "bash", arguments: "{}" } }],
    },
    { role: "tool", content: "ok" },
  ];
  const { update_id: id } = await memory.finish("Set the repository up.", messages);
  const run = await memory.getUpdate(id);
  expect(JSON.stringify(run.request)).toContain("[tool call bash]");
});

test("an update that is not waited for is run later", async () => {
  const memory = fresh();
  const queued = await memory.finishLater(
    "Decided: all SQL lives in storage because one place is easier to check.",
    [],
    {
      record: { intent: "Decide", summary: "Decided it." },
    },
  );
  expect(["queued", "running"]).toContain(queued.status);
  await expect.poll(async () => (await memory.getUpdate(queued.update_id)).status, { timeout: 30_000 }).toBe("applied");
});

test("a document is put, read, edited, searched and restored", async () => {
  const memory = fresh();
  const first = await memory.put("# Notes\nThe zebrafish protocol.\n\0".replace("\0", ""), { ifNoneMatch: "*" });
  expect(first).toMatchObject({ version: 1, unchanged: false, actor_id: "tester" });
  expect((await memory.get()).context).toBe("# Notes\nThe zebrafish protocol.\n");
  expect((await memory.get({ section: "Notes" })).context).toContain("zebrafish");

  const edited = await memory.edit(
    [{ op: "add", section: "learnings", reason: "CI has no database", content: "commit the query data" }],
    {
      ifMatch: first.context_id,
    },
  );
  expect(edited.operations).toMatchObject([{ op: "add", id: "KL-1" }]);
  const text = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because the database is there now\n";
  expect(await memory.edit(text, { dryRun: true })).toMatchObject({ status: "dry_run", version: 2 });
  expect(await memory.edit(text)).toMatchObject({ status: "applied", version: 3 });

  expect(await memory.listRecords({ kind: "KL", status: "archived" }).all()).toMatchObject([{ record_id: "KL-1" }]);
  const vault = client.vault(memory.vaultId);
  await expect.poll(async () => (await vault.search("zebrafish").all()).length).toBe(1);
  expect(await memory.search("QUERY data").all()).toEqual([]);
  expect(await memory.search("QUERY data", { archived: true }).all()).toMatchObject([{ record_id: "KL-1" }]);
  expect(await memory.restoreContext(1, "a trial")).toMatchObject({ version: 4 });
  expect((await memory.diffContexts(4, { base: "3" })).diff).toContain("-# Key Learnings");
  const log = await memory.history().all();
  expect(log.map((entry) => entry.version)).toEqual([4, 3, 2, 1]);
});

test("refusals are errors with their members", async () => {
  const memory = fresh();
  const missing: unknown = await memory.get().catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ status: 404, kind: "not-found", type: "urn:working-memory:problem:not-found" });

  const { context_id: contextId } = await memory.put("one");
  await memory.put("two");
  await expect(memory.put("three", { ifMatch: contextId })).rejects.toBeInstanceOf(PreconditionFailedError);
  const blank: unknown = await memory.put("  ").catch((error: unknown) => error);
  expect(blank).toBeInstanceOf(InvalidError);
  expect(blank).toMatchObject({ field: expect.any(String), message: expect.stringContaining("blank") });
  const tooMany: unknown = await memory.getPrompt({ maxTokens: 0 }).catch((error: unknown) => error);
  expect(tooMany).toMatchObject({ field: "max_tokens" });
  const { update_id: ended } = await memory.edit("KEY_LEARNINGS:\n  ADD:\n    - because it is so: a thing\n");
  const conflict: unknown = await memory.cancelUpdate(ended).catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(ConflictError);
  expect(conflict).toMatchObject({ body: { run_status: "applied" } });
});

test("lists are read page by page", async () => {
  const memory = fresh();
  for (let number = 1; number <= 7; number++) await memory.put(`text ${number}`);
  const list = memory.listContexts({ limit: 3 });
  expect((await list.all()).map((context) => context.version)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  const sizes: number[] = [];
  for await (const page of list.pages()) sizes.push(page.items.length);
  expect(sizes).toEqual([3, 3, 1]);
  expect(await list.all(4)).toHaveLength(4);
  const first = await list.first();
  const rest = memory.listContexts({ limit: 3, cursor: first.next_cursor ?? "" });
  expect((await rest.all()).map((context) => context.version)).toEqual([4, 3, 2, 1]);
  expect((await client.vault(memory.vaultId).listMemories().all()).map((entry) => entry.memory_id)).toEqual([
    "agent-1",
  ]);
});

test("the window, items, proposals and the vault are there, too", async () => {
  const memory = fresh();
  const vault = client.vault(memory.vaultId);
  await memory.recordTask({ intent: "Add a parser", summary: "It reads lines.", outcome: { success: true } });
  await memory.recordDecision({ decision: "one language", reason: "it is enough" });
  await memory.setStatus({ goal: "ship it" });
  expect(await memory.getWindow()).toMatchObject({ status: { goal: "ship it" } });
  await memory.putItems("rules", [{ content: "Be kind." }]);
  const item = await vault.addVaultItem({ category: "tool_guidance", content: "Use the tools." });
  expect((await memory.getPrompt({ include: "rules,tool_guidance" })).text).toBe("Be kind.\n\nUse the tools.");
  await vault.removeVaultItem(item.item_id);
  expect(await memory.removeItems("rules")).toEqual({ removed: 1 });

  const proposed = await memory.edit(
    [{ op: "add", section: "learnings", reason: "it matters", content: "a proposal" }],
    { mode: "propose" },
  );
  expect(proposed.status).toBe("proposed");
  expect(await vault.listVaultUpdates({ status: "proposed" }).all()).toHaveLength(1);
  await memory.approveUpdate(proposed.update_id);
  expect(await memory.getRecord("KL-1")).toMatchObject({ content: "a proposal" });
  expect((await vault.getUsage().first()).vault_id).toBe(memory.vaultId);

  expect(await client.getHealth()).toBe("ok\n");
  expect(await client.getOpenApi()).toContain("operationId: GetOpenApi");
  expect(await client.getGuidance()).toContain("Description");
  await memory.deleteMemory();
  await expect(memory.getMemory()).rejects.toBeInstanceOf(NotFoundError);
});
