// What every TypeScript client has to be able to do: the clients hold structured content to the output schemas.

import assert from "node:assert/strict";

const TOOLS = [
  "memory_consolidate", "memory_edit", "memory_handoff", "memory_history", "memory_list", "memory_prompt",
  "memory_read", "memory_record", "memory_search", "memory_update", "memory_write",
];

// `leastSteps`: how many steps of an update have to be heard of at least.
export async function scenario(client, vault, { onProgress, leastSteps = 3 } = {}) {
  const place = { vault, memory: "agent" };
  const call = async (name, args, options) => {
    const result = await client.callTool({ name, arguments: args }, ...(options ?? []));
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    return result.structuredContent;
  };
  // Listing is what makes a client know the output schemas.
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
  assert.equal((await call("memory_write", { ...place, text: "# Description\nThe parser.\n", if_version: 0 })).version, 1);
  assert.equal((await call("memory_read", place)).context, "# Description\nThe parser.\n");
  const edited = await call("memory_edit", {
    ...place,
    learnings: { add: [{ reason: "CI has no database", content: "commit the query data" }] },
    progress: { completed: [], in_progress: ["route"], remaining: ["benchmarks"] },
  });
  assert.equal(edited.status, "applied");
  await call("memory_record", { ...place, kind: "task", intent: "parser", summary: "done" });
  await call("memory_record", { ...place, kind: "decision", decision: "SQL in storage", reason: "one language" });
  await call("memory_record", { ...place, kind: "status", goal: "ship" });
  const steps = [];
  const updated = await call("memory_update", { ...place, task: "Wire the parser", wait: true }, onProgress((told) => steps.push(told)));
  assert.ok(["applied", "unchanged"].includes(updated.status), JSON.stringify(updated));
  assert.ok(steps.length >= leastSteps, `steps: ${JSON.stringify(steps)}`);
  await call("memory_update", { ...place, task: "Later" });
  await call("memory_handoff", { ...place, refresh: true });
  for (const view of ["log", "diff", "blame", "records"]) await call("memory_history", { ...place, view });
  await call("memory_prompt", { ...place, max_tokens: 1000 });
  assert.equal((await call("memory_search", { vault, query: "parser" })).items[0].memory_id, "agent");
  assert.equal((await call("memory_list", { vault })).items.length, 1);

  for (const [name, args] of [
    ["memory_read", { vault, memory: "none" }],
    ["memory_read", { vault }],
    ["memory_edit", { ...place, learnings: { archive: [{ id: "KL-99", reason: "gone" }] } }],
  ]) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(result.isError && result.content[0].text.includes("Next: "), JSON.stringify(result));
  }
  const unknown = await client.callTool({ name: "memory_forget", arguments: {} });
  assert.ok(unknown.isError && unknown.content[0].text.includes("memory_read"), JSON.stringify(unknown));

  const { contents } = await client.readResource({ uri: `memory://${vault}/agent/context` });
  assert.ok(contents[0].text.includes("The parser."));
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 6);
  assert.equal((await client.listPrompts()).prompts.length, 3);
  const prompt = await client.getPrompt({ name: "wrap_up", arguments: place });
  assert.ok(JSON.stringify(prompt.messages).includes("The parser."));
}
