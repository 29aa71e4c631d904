-- What a record's line or its writer says beyond reason and content. A task is told by its columns; its line in the
-- document is one line made of intent and summary.
ALTER TABLE records
    -- The time on the line; where it has none, created_at counts.
    ADD COLUMN written_at   TIMESTAMPTZ,
    -- The id its writer gave a task, by which a second post of it is known.
    ADD COLUMN task_id      TEXT,
    ADD COLUMN intent       TEXT,
    ADD COLUMN summary      TEXT,
    ADD COLUMN outcome      JSONB,
    ADD COLUMN epic         TEXT,
    ADD CONSTRAINT records_task_check CHECK (
        kind = 'T' OR (task_id IS NULL AND intent IS NULL AND summary IS NULL AND outcome IS NULL AND epic IS NULL)
    );
CREATE UNIQUE INDEX records_task_id_key ON records (vault_id, memory_id, task_id) WHERE task_id IS NOT NULL;
-- The archive of tasks in the order of time, so that a page of it is read by key however long it is.
CREATE INDEX records_history_idx ON records (vault_id, memory_id, (COALESCE(written_at, created_at)), number)
    WHERE kind = 'T' AND status = 'archived';
