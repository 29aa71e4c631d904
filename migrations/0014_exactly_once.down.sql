DELETE FROM events WHERE kind IN ('redacted', 'items');
ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check
    CHECK (kind IN ('version', 'update', 'handoff', 'memory_deleted'));
DELETE FROM idempotency_keys WHERE status IN ('redacted', 'deleted');
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_status_check;
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_status_check CHECK (
    (status = 'running' AND lease_until IS NOT NULL AND answer_status IS NULL AND answer_headers IS NULL
        AND answer_body IS NULL)
    OR (status = 'done' AND lease_until IS NULL AND answer_status IS NOT NULL AND answer_headers IS NOT NULL
        AND answer_body IS NOT NULL)
);
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_saved_check;
ALTER TABLE idempotency_keys DROP COLUMN saved_id;
ALTER TABLE idempotency_keys DROP COLUMN saved_kind;
