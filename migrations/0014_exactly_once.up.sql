-- What a request with an Idempotency-Key saved, written by the transaction that saves it: whoever takes over from a
-- process that died before it kept its answer answers from that. And keys whose answers were taken out.
ALTER TABLE idempotency_keys ADD COLUMN saved_kind TEXT;
ALTER TABLE idempotency_keys ADD COLUMN saved_id TEXT;
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_saved_check CHECK (
    (saved_kind IS NULL AND saved_id IS NULL)
    OR (saved_kind IN ('version', 'run', 'queued', 'item') AND saved_id IS NOT NULL)
);
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_status_check;
-- Of what was redacted or deleted the key stays, so that a late retry does not run again; the answer goes.
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_status_check CHECK (
    (status = 'running' AND lease_until IS NOT NULL AND answer_status IS NULL AND answer_headers IS NULL
        AND answer_body IS NULL)
    OR (status = 'done' AND lease_until IS NULL AND answer_status IS NOT NULL AND answer_headers IS NOT NULL
        AND answer_body IS NOT NULL)
    OR (status IN ('redacted', 'deleted') AND lease_until IS NULL AND answer_status IS NULL
        AND answer_headers IS NULL AND answer_body IS NULL)
);

-- Words are kept without accents from here on: documents that have other words than ASCII ones are indexed anew, in
-- the background.
WITH other AS (
    DELETE FROM search_entries WHERE words::text ~ '[^\x01-\x7f]' RETURNING vault_id, memory_id
)
UPDATE memories SET indexed_version = 0
FROM other
WHERE memories.vault_id = other.vault_id AND memories.memory_id = other.memory_id;

ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check
    CHECK (kind IN ('version', 'update', 'handoff', 'memory_deleted', 'redacted', 'items'));
