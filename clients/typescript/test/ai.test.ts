/** The tool set in the AI SDK's own loop, with a scripted model. */

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { expect } from "expect";
import { fromModelMessages, memoryTools } from "../dist/ai.js";
import { Client } from "../dist/index.js";
import { sharedUrl } from "./service.js";

const client = new Client(sharedUrl());
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes call after call and then ends. */
function scripted(calls: readonly (readonly [tool: string, input: unknown])[]): MockLanguageModelV4 {
  let asked = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const call = calls[asked++];
      return {
        content: call
          ? [{ type: "tool-call", toolCallId: `call_${asked}`, toolName: call[0], input: JSON.stringify(call[1]) }]
          : [{ type: "text", text: "All done." }],
        finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

test("a model keeps the memory with its tools", async () => {
  const memory = client.memory(`v-${randomUUID()}`, "agent-1");
  const result = await generateText({
    model: scripted([
      ["memory_read", {}],
      [
        "memory_edit",
        {
          learnings: { add: [{ reason: "the linter says so", content: "tabs are refused in YAML" }] },
          snippets: { add: [{ reason: "the next step edits it", label: "Makefile", content: "test:\n\tcargo test" }] },
          progress: { in_progress: ["Wire the parser"] },
        },
      ],
      ["memory_edit", { learnings: { archive: [{ id: "KL-1", reason: "the linter is gone" }] } }],
      ["memory_record", { intent: "Wire the parser", summary: "Wired it." }],
      ["memory_decide", { decision: "one language", reason: "it is enough", actor: "boss", headers: { "x-actor-id": "boss" } }],
      ["memory_history", {}],
      ["memory_search", { query: "parser" }],
      ["memory_read", { section: "Verbatim Context" }],
    ]),
    tools: memoryTools(memory),
    stopWhen: isStepCount(20),
    prompt: "Keep the memory.",
  });
  expect(result.text).toBe("All done.");
  const parts = result.steps.flatMap((step) => step.content);
  // There is nothing to read at first: the model gets an error that says what to do.
  const errors = parts.filter((part) => part.type === "tool-error");
  expect(errors.map((part) => [part.toolName, String(part.error)])).toEqual([
    ["memory_read", expect.stringContaining("does not exist")],
  ]);
  const outputs = parts.filter((part) => part.type === "tool-result").map((part) => part.output);
  expect(outputs[0]).toMatchObject({ status: "applied", rejected: [] });
  expect(outputs.at(-1)).toContain("\tcargo test");
  expect(outputs[4]).toHaveLength(4);
  const records = await memory.records.list({ status: "all" }).all();
  expect(records.map((record) => [record.record_id, record.status]).sort()).toEqual([
    ["D-1", "active"],
    ["KL-1", "archived"],
    ["T-1", "active"],
    ["VC-1", "active"],
  ]);

  expect((await memory.log().all()).map((entry) => entry.actor_id)).not.toContain("boss");

  const messages = fromModelMessages(result.responseMessages);
  const finished = await memory.finish("Kept the memory.", messages, { dryRun: true });
  const kept = JSON.stringify((await memory.updates.get(finished.update_id)).request);
  expect(kept).toContain("[tool call memory_edit]");
  expect(kept).toContain("All done.");
});

test("messages of every kind are turned into the service's form", () => {
  expect(
    fromModelMessages([
      { role: "system", content: "Be kind." },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "Calling." },
          { type: "tool-call", toolCallId: "1", toolName: "f", input: { a: 1 } },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "1", toolName: "f", output: { type: "error-text", value: "no" } }],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "1", toolName: "f", output: { type: "json", value: { b: 2 } } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "1",
            toolName: "f",
            output: {
              type: "content",
              value: [
                { type: "text", text: "a page" },
                { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } },
              ],
            },
          },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "1", toolName: "f", output: { type: "execution-denied", reason: "too late" } }],
      },
      { role: "user", content: [{ type: "image", image: new Uint8Array() }] },
    ]),
  ).toEqual([
    { role: "system", content: "Be kind." },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Calling." },
        { type: "tool_use", name: "f", input: { a: 1 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", content: "no", is_error: true }] },
    { role: "user", content: [{ type: "tool_result", content: '{"b":2}', is_error: false }] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          content: [
            { type: "text", text: "a page" },
            { type: "text", text: "[file]" },
          ],
          is_error: false,
        },
      ],
    },
    { role: "user", content: [{ type: "tool_result", content: "too late", is_error: true }] },
    { role: "user", content: [{ type: "text", text: "[image]" }] },
  ]);
});
