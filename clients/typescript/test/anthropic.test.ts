/** The memory tool in the SDK's own tool runner, with a scripted model. */

import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { expect } from "expect";
import { memoryTool, memoryToolHandlers } from "../dist/anthropic.js";
import { Client } from "../dist/index.js";
import { sharedUrl } from "./service.js";

const vault = new Client(sharedUrl()).vault(`v-${randomUUID()}`);

type Command = Record<string, unknown>;

/** A stub of Anthropic's API: it calls the tool with command after command, and records the results. */
function scripted(commands: readonly Command[]) {
  const results: { content: unknown; is_error?: boolean }[] = [];
  let asked = 0;
  const fetch = async (_url: unknown, init?: RequestInit) => {
    const body = JSON.parse(String(init?.body)) as { messages: { content: unknown }[]; tools: unknown[] };
    const last = body.messages.at(-1)?.content;
    if (Array.isArray(last)) results.push(...last.filter((block: { type: string }) => block.type === "tool_result"));
    const command = commands[asked++];
    const content = command
      ? [{ type: "tool_use", id: `toolu_${randomUUID()}`, name: "memory", input: command }]
      : [{ type: "text", text: "done" }];
    const message = {
      id: "msg",
      type: "message",
      role: "assistant",
      model: "scripted",
      content,
      stop_reason: command ? "tool_use" : "end_turn",
    };
    return new Response(
      JSON.stringify({ ...message, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }),
      {
        headers: { "content-type": "application/json" },
      },
    );
  };
  const anthropic = new Anthropic({
    apiKey: "none",
    baseURL: "http://model.invalid",
    fetch: fetch as typeof globalThis.fetch,
  });
  return { anthropic, results };
}

const COMMANDS: Command[] = [
  { command: "view", path: "/memories" },
  { command: "create", path: "/memories/tea.md", file_text: "Drinks tea.\n" },
  { command: "str_replace", path: "/memories/tea.md", old_str: "tea", new_str: "green tea" },
  { command: "insert", path: "/memories/tea.md", insert_line: 1, insert_text: "Without milk.\n" },
  { command: "view", path: "/memories/tea.md", view_range: [1, 2] },
  { command: "rename", old_path: "/memories/tea.md", new_path: "/memories/drinks/tea.md" },
  { command: "view", path: "/memories/tea.md" },
  { command: "delete", path: "/memories/drinks/tea.md" },
];

for (const [name, tool] of [
  ["the tool", memoryTool(vault, "a", { actor: "claude", cache_control: { type: "ephemeral" } })],
  ["the handlers", betaMemoryTool(memoryToolHandlers(vault, "b", { actor: "claude" }))],
] as const) {
  test(`${name}: every command is carried out by the service`, async () => {
    const { anthropic, results } = scripted(COMMANDS);
    const runner = anthropic.beta.messages.toolRunner({
      model: "scripted",
      max_tokens: 100,
      messages: [{ role: "user", content: "Remember that I drink tea." }],
      tools: [tool],
    });
    const last = await runner.runUntilDone();
    expect(last.content).toMatchObject([{ type: "text", text: "done" }]);
    const texts = results.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
    expect(texts[1]).toBe("File created successfully at: /memories/tea.md");
    expect(texts[4]).toContain("1\tDrinks green tea.");
    expect(texts[4]).toContain("2\tWithout milk.");
    expect(results.map((result) => result.is_error ?? false)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(texts[6]).toContain("/memories/tea.md does not exist");
  });
}

test("a tool use that comes twice is carried out once", async () => {
  const tool = memoryTool(vault, "c");
  const toolUse = { type: "tool_use" as const, id: "toolu_once", name: "memory", input: {} };
  const run = () =>
    tool.run({ command: "create", path: "/memories/x.md", file_text: "x" }, { toolUse, toolUseBlock: toolUse });
  const first = await run();
  expect(await run()).toBe(first);
  await expect(
    tool.run(
      { command: "create", path: "/memories/x.md", file_text: "x" },
      { toolUse: { ...toolUse, id: "toolu_2" }, toolUseBlock: toolUse },
    ),
  ).rejects.toThrow("already exists");
});

test("edits are versions with their actor", async () => {
  const memories = await vault.memories.list({ prefix: "tea.md" }).all();
  expect(memories).toHaveLength(2);
  const log = await vault
    .memory(memories[0]?.memory_id ?? "")
    .log()
    .all();
  expect(log.map(({ actor_id: actor, source }) => [actor, source])).toEqual(Array(3).fill(["claude", "tool"]));
});
