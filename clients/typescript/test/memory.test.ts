import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { expect } from "expect";
import {
  archive,
  Client,
  ConflictError,
  InvalidError,
  learn,
  mark,
  NotFoundError,
  NotModifiedError,
  PreconditionFailedError,
  progress,
  snippet,
  type Memory,
} from "../dist/index.js";
import { sharedUrl } from "./service.js";

const client = new Client(sharedUrl(), { actor: "tester" });
const vaults = new WeakMap<Memory, string>();
const vaultOf = (memory: Memory) => vaults.get(memory) ?? "";
const fresh = () => {
  const vault = `v-${randomUUID()}`;
  const memory = client.memory(vault, "agent-1");
  vaults.set(memory, vault);
  return memory;
};

test("a first session begins with nothing, and the next one with what the first left", async () => {
  const memory = fresh();
  const empty = await memory.start({ maxTokens: 1000, refresh: true });
  expect([empty.first, empty.prompt, empty.handoff, String(empty)]).toEqual([true, "", "", ""]);

  const messages = [
    { role: "user", content: "Remember that the deploy key of the staging cluster expires on 2027-03-01." },
    { role: "assistant", content: "Noted. I wrote the rotation script." },
  ];
  const record = { intent: "Rotate the deploy key", summary: "Wrote the rotation script.", task_id: "rotate-1" };
  const answer = await memory.finish("Wrote the rotation script for the deploy key.", messages, { record });
  expect(answer).toMatchObject({ status: "applied", version: 1 });

  const session = await memory.start({ maxTokens: 4000 });
  expect(session.receipt.version).toBe(1);
  expect(session.prompt).toContain("Rotate the deploy key");
  expect(session.handoff).toContain("## Start Here");
  expect(session.receipt.tokens).toBeGreaterThan(0);
  expect(String(session)).toContain(session.prompt);

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
  const run = await memory.updates.get(id);
  expect(JSON.stringify(run.request)).toContain("[tool call bash]");
});

test("an update that is not waited for is run later", async () => {
  const memory = fresh();
  const queued = await memory.updates.queue("Decided: all SQL lives in storage because one place is easier to check.", [], {
    record: { intent: "Decide", summary: "Decided it." },
  });
  expect(["queued", "running"]).toContain(queued.status);
  expect((await memory.updates.wait(queued.update_id)).status).toBe("applied");
  await expect(memory.updates.wait("01a202a7-0000-7000-8000-000000000000")).rejects.toBeInstanceOf(NotFoundError);
});

test("an update is watched", async () => {
  const names: string[] = [];
  let status: string | undefined;
  for await (const step of fresh().updates.watch("Remember: always use tabs in Makefiles")) {
    names.push(step.name);
    status = step.answer?.status;
  }
  expect([names[0], names.at(-1), status]).toEqual(["started", "done", "applied"]);
});

test("changes of many lose nothing", async () => {
  const memory = fresh();
  await Promise.all([1, 2, 3, 4].map((number) => memory.change((text) => `${text}- ${number}\n`)));
  expect((await memory.get()).context?.split("\n").sort().filter(Boolean)).toEqual(["- 1", "- 2", "- 3", "- 4"]);
});

test("a document is put, read, edited, searched and restored", async () => {
  const memory = fresh();
  const first = await memory.put("# Notes\nThe zebrafish protocol.\n\0".replace("\0", ""), { ifNoneMatch: "*" });
  expect(first).toMatchObject({ version: 1, unchanged: false, actor_id: "tester" });
  expect((await memory.get()).context).toBe("# Notes\nThe zebrafish protocol.\n");
  expect((await memory.get({ section: "Notes" })).context).toContain("zebrafish");
  for (const known of [first.context_id, `"${first.context_id}"`]) {
    await expect(memory.get({ ifNoneMatch: known })).rejects.toThrow(NotModifiedError);
  }

  const edited = await memory.edit(
    [learn("commit the query data", { because: "CI has no database" })],
    { ifMatch: first.context_id },
  );
  expect(edited.operations).toMatchObject([{ op: "add", id: "KL-1" }]);
  const text = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because the database is there now\n";
  expect(await memory.edit(text, { dryRun: true })).toMatchObject({ status: "dry_run", version: 2 });
  expect(await memory.edit(text)).toMatchObject({ status: "applied", version: 3 });

  expect(await memory.records.list({ kind: "KL", status: "archived" }).all()).toMatchObject([{ record_id: "KL-1" }]);
  const vault = client.vault(vaultOf(memory));
  while ((await vault.search("zebrafish").all()).length === 0) await setTimeout(50);
  expect(await memory.search("QUERY data", { kind: "KL", consistent: true }).all()).toEqual([]);
  const archived = memory.search("QUERY data", { status: "archived", actor: "tester" });
  expect(await archived.all()).toMatchObject([{ record_id: "KL-1" }]);
  expect(await memory.search("QUERY data", { status: "archived", actor: "nobody" }).all()).toEqual([]);
  expect(await memory.versions.restore(1, { reason: "a trial" })).toMatchObject({ version: 4 });
  expect((await memory.versions.diff(4, { base: "3" })).diff).toContain("-# Key Learnings");
  const log = await memory.log().all();
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
  const tooMany: unknown = await memory.prompt({ maxTokens: 0 }).catch((error: unknown) => error);
  expect(tooMany).toMatchObject({ field: "max_tokens" });
  const { update_id: ended } = await memory.edit("KEY_LEARNINGS:\n  ADD:\n    - because it is so: a thing\n");
  const conflict: unknown = await memory.updates.cancel(ended).catch((error: unknown) => error);
  expect(conflict).toBeInstanceOf(ConflictError);
  expect(conflict).toMatchObject({ members: { run_status: "applied" } });
});

test("lists are read page by page", async () => {
  const memory = fresh();
  for (let number = 1; number <= 7; number++) await memory.put(`text ${number}`);
  const list = memory.versions.list({ limit: 3 });
  expect((await list.all()).map((context) => context.version)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  const sizes: number[] = [];
  for await (const page of list.pages()) sizes.push(page.items.length);
  expect(sizes).toEqual([3, 3, 1]);
  expect(await list.all(4)).toHaveLength(4);
  const first = await list.page();
  const rest = list.after(first.next_cursor ?? "");
  expect((await rest.all()).map((context) => context.version)).toEqual([4, 3, 2, 1]);
  expect((await client.vault(vaultOf(memory)).memories.list().all()).map((entry) => entry.memory_id)).toEqual([
    "agent-1",
  ]);
});

test("the window, handoffs, proposals and the vault are there, too", async () => {
  const memory = fresh();
  const vault = client.vault(vaultOf(memory));
  await memory.window.recordTask("Add a parser", "It reads lines.", { outcome: { success: true }, taskId: "t-1" });
  await memory.window.recordDecision("one language", { reason: "it is enough" });
  await memory.window.setStatus({ goal: "ship it", blocker: "CI" });
  expect(await memory.window.setStatus({ blocker: null })).toMatchObject({ goal: "ship it", blocker: null });
  expect(await memory.window.get()).toMatchObject({ status: { goal: "ship it" } });
  expect(await memory.window.text()).toContain("Add a parser");
  const old = { time: "2026-01-01T00:00:00Z", intent: "Old work", summary: "Done.", epic: "old" };
  expect(await memory.window.import({ history: [old] })).toMatchObject({ taken: { history: 1 } });
  expect(await memory.window.history().all()).toMatchObject([{ intent: "Old work" }]);
  expect(await memory.window.epics({ by: "epic" }).all()).toMatchObject([{ name: "old" }]);
  const handoff = await memory.handoffs.refresh({ workspace: { branch: "main" }, window: "PT6H" });
  expect((await memory.handoffs.get(handoff.handoff_id)).markdown).toBe(handoff.markdown);
  expect(await memory.handoffs.list().all()).toHaveLength(1);
  expect((await memory.handoffs.status()).status).toBe("fresh");

  const proposal = [learn("a proposal", { because: "it matters" })];
  const { update_id: id, status } = await memory.edit(proposal, { mode: "propose" });
  expect(status).toBe("proposed");
  expect(await vault.updates.list({ status: "proposed" }).all()).toHaveLength(1);
  await memory.updates.approve(id);
  expect(await memory.records.get("KL-1", { history: true })).toMatchObject({ history: [{ change: "added" }] });
  const { update_id: other } = await memory.edit([snippet("a", "b", { because: "c" })], { mode: "propose" });
  expect((await memory.updates.reject(other, { reason: "no" })).status).toBe("rejected");
  await memory.edit([mark("KL-1", { because: "it stays", pinned: true })]);
  expect(await memory.records.get("KL-1")).toMatchObject({ pinned: true, until: null });
  await memory.edit([progress(["Wire it"]), archive("KL-1", { because: "done" })]);
  expect((await vault.usage().page()).vault_id).toBe(vaultOf(memory));
  expect((await memory.blame()).lines[0]?.version).toBe(1);
  expect(await memory.sections().all()).not.toHaveLength(0);
  expect((await memory.versions.redact(1, { reason: "a password" })).redacted).toBe(true);

  expect((await client.request("GET", "/healthz")).value).toBe("ok\n");
  expect(await client.guidance()).toContain("Description");
  expect((await client.vaults.list({ limit: 500 }).all()).map((one) => one.vault_id)).toContain(vaultOf(memory));
  await memory.delete();
  await expect(memory.info()).rejects.toBeInstanceOf(NotFoundError);
});

test("items make the prompt", async () => {
  const memory = fresh();
  const vault = client.vault(vaultOf(memory));
  await memory.items.replace("rules", ["Be kind."]);
  const item = await vault.items.add("Use the tools.", "tool_guidance", { metadata: { from: "ann" } });
  expect(await memory.items.getPromptContent({ include: ["rules", "tool_guidance"] })).toBe("Be kind.\n\nUse the tools.");
  expect(await vault.items.get(item.item_id)).toMatchObject({ content: "Use the tools." });
  await vault.items.remove(item.item_id);
  expect(await memory.items.clear("rules")).toEqual({ removed: 1 });
  expect(() => memory.items.add(" \n", "rules")).toThrow(RangeError);
  expect(() => memory.items.replace("rules", [""])).toThrow(RangeError);
  expect(() => memory.items.add(undefined as never, "rules")).toThrow(TypeError);
  expect(await memory.items.list().all()).toEqual([]);
});

test("the memory tool's files", async () => {
  const { files } = client.vault(`v-${randomUUID()}`);
  await files.run("r", { command: "create", path: "/memories/a", file_text: "tea" });
  const { context_id: ifMatch } = await files.put("r", "/memories/a", "green tea\n");
  expect(await files.list("r").all()).toMatchObject([{ path: "/memories/a" }]);
  await files.remove("r", "/memories/a", { ifMatch });
  expect(await files.list("r").all()).toEqual([]);
});
