ALTER TABLE idempotency_keys
    ADD COLUMN saved_kind TEXT,
    ADD COLUMN saved_id TEXT,
    ADD CONSTRAINT idempotency_keys_saved_check CHECK (
        (saved_kind IS NULL AND saved_id IS NULL)
        OR (saved_kind IN ('version', 'run', 'queued', 'item') AND saved_id IS NOT NULL)
    );
