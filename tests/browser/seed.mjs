// What the pages show: a memory of a thousand versions, a vault of ten thousand memories, a hostile memory, runs,
// proposals, tasks, decisions, a handoff.

export const VERSIONS = Number(process.env.DASHBOARD_VERSIONS ?? 1000);
export const MEMORIES = Number(process.env.DASHBOARD_MEMORIES ?? 10000);

export const RTL = "\u202e";
export const HOSTILE = [
  "# <script>document.title='owned'</script>",
  "",
  "<img src=x onerror=\"document.title='owned'\"> <style>*{display:none}</style> <iframe src='https://example.org'></iframe>",
  "",
  "[a link](javascript:document.title='owned') ![picture](https://example.org/x.png) <https://example.org/>",
  "",
  `${RTL}txet desrever dna \u2067isolated\u2069 ${RTL}`,
  "",
  `${"> ".repeat(40)}quoted`,
  "",
  `${"- ".repeat(40)}listed`,
  "",
  "</main></body></html><!-- ]]> {{ 7 * 7 }} ${7*7} <svg onload=\"document.title='owned'\">",
  "",
  "# Key Learnings",
  "- KL-1 because <b>bold</b> \"quotes\" 'and' &amp;: a <script>document.title='owned'</script> learning",
  "",
  "# Verbatim Context",
  "- VC-1 because </code></pre>: label \"><script> => </code></pre><script>document.title='owned'</script>",
  "",
].join("\n");

export function story(round) {
  const done = Array.from({ length: 1 + (round % 7) }, (_, step) => `  - Step ${step + 1} of the parser works`).join("\n");
  return `# Project
The importer reads folders of **Markdown** and writes one version for each. Round ${round}.

See [the format](https://example.org/format) and \`src/import.rs\`.

| part | state |
|---|---|
| parser | round ${round} |
| writer | waits |

# Current Progress
Completed:
${done}
In Progress:
  - Round ${round}: the writer

# Key Learnings
- KL-1 [2026-11-20T08:00:00Z] because a lock was held over a query: locks are taken last
- KL-2 [2026-11-21T08:00:00Z] because two tests shared a port: every test binds to port 0
${round % 5 ? `- KL-3 because it was measured: a batch of ${100 + (round % 5)} rows is the fastest\n` : ""}
# Verbatim Context
- VC-1 [2026-11-21T09:00:00Z] because it is typed often: run the suite => cargo nextest run --test it
- VC-2 because the order matters: start =>
  docker compose up -d database
  \tcargo run -- migrate

# Decisions
- D-1 [2026-11-21T10:00:00Z] because one writer is simpler: a single writer task owns the file
`;
}

export async function seedStory(api, vault = "acme") {
  const memory = `/vaults/${vault}/memories/importer`;
  await api.put(vault, "importer", story(1), { "x-actor-id": "ann" });
  await api.put(vault, "importer", story(2), { "x-actor-id": "ben" });
  for (const [number, intent] of ["Read a folder", "Parse front matter", "Keep line ends", "Refuse links that lead out", "Write versions", "Measure", "Document it"].entries()) {
    await api.must("POST", `${memory}/tasks`, {
      task_id: `task-${number}`, intent, summary: `Done with ${number + 2} tests; nothing is left open.`,
      epic: number < 4 ? "reading" : "writing", outcome: { success: number !== 3, tests: number + 2 },
    });
  }
  await api.must("POST", `${memory}/decisions`, { decision: "Line ends are kept as they are", reason: "diffs of whole files were unreadable" });
  await api.must("PUT", `${memory}/status`, { goal: "Import a hundred folders in a minute", blocker: "None" });
  const messages = [
    { role: "user", content: "Make the importer faster. We decided to batch writes because single inserts took a second each." },
    { role: "assistant", content: "The root cause turned out to be one transaction for each row, because the pool was set to one connection. Always batch inserts.\n\n```sh\ncargo bench --bench import\n```\n\nNext I will write the documentation." },
  ];
  await api.must("POST", `${memory}/update`, { task: "Batch the writes of the importer", messages });
  const proposal = await api.must("POST", `${memory}/update`, {
    task: "Find out why the import stalls", mode: "propose",
    messages: [{ role: "assistant", content: "Root cause: the disk was full, because logs were never rotated. Never log whole documents. Completed the search. Next: rotate logs." }],
  });
  const operations = "KEY_LEARNINGS:\n  ADD:\n    - because the queue was empty: an empty queue is no fault\n    - because a dial was wrong: read the dial twice\n  ARCHIVE:\n    - KL-2 because ports are chosen by the system now\n    - KL-99 because it never was\n";
  const second = await api.must("POST", `${memory}/operations?mode=propose`, operations);
  await api.must("POST", `${memory}/operations`, "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because ports are chosen by the system now\n  ADD:\n    - because a reader asked: the manual names every flag\n    - no reason here\n");
  await api.must("POST", `${memory}/items`, { category: "tool_guidance", content: "Use the search tool before reading files." });
  await api.must("POST", `/vaults/${vault}/items`, { category: "rules", content: "Never delete a user's file." });
  await api.must("POST", `${memory}/handoff/refresh`, {});
  await api.put(vault, "notes", "# Notes\nSomething small that the search finds: kingfisher.\n");
  return { proposal: proposal.update_id, second: second.update_id };
}

export async function seedHostile(api, vault = "acme") {
  await api.put(vault, "hostile", `${HOSTILE}\n${"<&\"'>".repeat(2000)}\n`);
  await api.put(vault, "hostile", `${HOSTILE}\nA second version ${"<b>".repeat(3000)}\n`);
  await api.put(vault, "long-line", `# One line\n${"abcdefghi ".repeat(4000)}${"x".repeat(58000)}\n`);
  await api.put(vault, "short-lines", "a\n".repeat(50000));
}

export async function seedThousand(api, vault = "acme") {
  for (let version = 1; version <= VERSIONS; version++) await api.put(vault, "thousand", story(version));
}

/** By rows: ten thousand requests would take longer than all tests. */
export function seedMany(service, vault = "many") {
  service.sql(`
    INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
    SELECT '${vault}', 'agent-' || lpad(n::text, 5, '0'), 1, 'seed-' || n, now() - n * interval '1 minute',
           now() - n * interval '1 minute'
    FROM generate_series(0, ${MEMORIES - 1}) AS n;
    INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes, log)
    SELECT '${vault}', 'agent-' || lpad(n::text, 5, '0'), 'seed-' || n, 'seed', text, now() - n * interval '1 minute', 1, 'put',
           octet_length(text), 'put'
    FROM generate_series(0, ${MEMORIES - 1}) AS n, LATERAL (SELECT E'# Agent\n' || repeat('word ', n % 200) || E'\n') AS made (text);
    ANALYZE;`);
}

/** What models cost in a month, as runs would leave it. */
export function seedUsage(service, vault = "acme") {
  service.sql(`
    INSERT INTO model_usage (vault_id, day, model, role, runs, calls, failures, input_tokens, cached_tokens,
                             cache_write_tokens, output_tokens, millis)
    SELECT '${vault}', current_date - n, model, 'progress', 3 + n % 5, 9 + n % 7, n % 3, 40000 + (n * 7919) % 30000,
           20000 + (n * 104729) % 9000, 0, 5000 + (n * 1299709) % 4000, 90000
    FROM generate_series(1, 27) AS n, unnest(ARRAY['small-model', 'large-model']) AS model;`);
}
