-- A new version of a random memory in one statement: its row moved, or made, and the version's row inserted, with the
-- columns that a put of the service fills. `indexed_version` moves along, so that the service's indexer does not
-- work on these memories meanwhile.
\set vault random(0, 99)
\set memory random(0, 99)
\set revision random(1, 1000000000)
WITH head AS (
    INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, counters, created_at, changed_at, indexed_version)
    VALUES ('pgbench-' || lpad(:vault, 3, '0'), 'agent-' || lpad(:memory, 3, '0'), 1, gen_random_uuid()::text,
            '{8,3,3,1}', now(), now(), 1)
    ON CONFLICT (vault_id, memory_id) DO UPDATE
        SET head_version = memories.head_version + 1, head_context_id = excluded.head_context_id,
            changed_at = excluded.changed_at, indexed_version = memories.head_version + 1
    RETURNING vault_id, memory_id, head_version, head_context_id, changed_at
)
INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version, source,
                             bytes, log, line_origins)
SELECT vault_id, memory_id, head_context_id, 'anonymous', text, changed_at, head_version,
       'put', octet_length(text), :log, string_to_array(:origins, ',')::bigint[]
FROM head, (SELECT :before || :revision || :after AS text) AS document;
