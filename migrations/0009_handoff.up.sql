-- What became of each record, change by change: a projection of the versions as `records` is, kept in the writer's
-- transaction, rebuildable from them.
CREATE TABLE record_changes (
    vault_id  TEXT        NOT NULL,
    memory_id TEXT        NOT NULL,
    kind      TEXT        NOT NULL,
    number    BIGINT      NOT NULL,
    -- The version that did it: the first with the change, and the first without a record that ended.
    version   BIGINT      NOT NULL,
    change    TEXT        NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    by        TEXT        NOT NULL,
    CONSTRAINT record_changes_pkey PRIMARY KEY (vault_id, memory_id, kind, number, version),
    CONSTRAINT record_changes_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT record_changes_kind_check CHECK (kind IN ('KL', 'VC', 'T', 'D')),
    CONSTRAINT record_changes_number_check CHECK (number >= 1),
    CONSTRAINT record_changes_version_check CHECK (version >= 1),
    CONSTRAINT record_changes_change_check CHECK (
        change IN ('added', 'changed', 'archived', 'superseded', 'restored')
    )
);
-- The changes of the last hours, and those since a version: times never go back from version to version.
CREATE INDEX record_changes_recent_idx ON record_changes (vault_id, memory_id, at, version);

-- Of the past, the records tell their births and ends; `working-memory rebuild-records` reads the rest out of the
-- versions.
INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
SELECT vault_id, memory_id, kind, number, created_version, 'added', created_at, created_by FROM records;
INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
SELECT vault_id, memory_id, kind, number, ended_version,
       CASE WHEN superseded_by IS NULL THEN 'archived' ELSE 'superseded' END, ended_at, ended_by
FROM records
WHERE status = 'archived'
ON CONFLICT (vault_id, memory_id, kind, number, version) DO NOTHING;

-- Compiled views of recent changes. They quote versions: whoever takes a text out takes these out too.
CREATE TABLE handoffs (
    vault_id        TEXT        NOT NULL,
    memory_id       TEXT        NOT NULL,
    handoff_id      TEXT        NOT NULL,
    -- 1, 2, 3 … within the memory; decides which is the newest.
    number          BIGINT      NOT NULL,
    generated_at    TIMESTAMPTZ NOT NULL,
    generated_by    TEXT        NOT NULL,
    window_seconds  BIGINT      NOT NULL,
    -- The version it was compiled from, and when that was made.
    base_version    BIGINT      NOT NULL,
    base_context_id TEXT        NOT NULL,
    base_time       TIMESTAMPTZ NOT NULL,
    markdown        TEXT        NOT NULL,
    manifest        JSONB       NOT NULL,
    -- Line by line what is cited and in which state it was: what freshness is judged by.
    citations       JSONB       NOT NULL,
    CONSTRAINT handoffs_pkey PRIMARY KEY (vault_id, memory_id, handoff_id),
    CONSTRAINT handoffs_number_key UNIQUE (vault_id, memory_id, number),
    CONSTRAINT handoffs_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT handoffs_number_check CHECK (number >= 1),
    CONSTRAINT handoffs_window_check CHECK (window_seconds >= 1),
    CONSTRAINT handoffs_base_check CHECK (base_version >= 1)
);
