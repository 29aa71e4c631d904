-- Runs of /update and /operations with everything a person needs to see why they ended as they did.
-- No foreign key to memories: a run that failed on a memory that does not exist yet is kept as well.
CREATE TABLE updates (
    vault_id     TEXT        NOT NULL,
    memory_id    TEXT        NOT NULL,
    -- A UUID of version 7, so the key's order is the order of time.
    update_id    TEXT        NOT NULL,
    kind         TEXT        NOT NULL,
    status       TEXT        NOT NULL,
    actor_id     TEXT        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    finished_at  TIMESTAMPTZ NOT NULL,
    base_version BIGINT      NOT NULL,
    version      BIGINT,
    context_id   TEXT,
    -- The run that finished this one by hand.
    resolved_by  TEXT,
    request      JSONB       NOT NULL,
    -- What a role was asked and answered, one entry an asking.
    exchanges    JSONB       NOT NULL,
    outcome      JSONB       NOT NULL,
    CONSTRAINT updates_pkey PRIMARY KEY (vault_id, memory_id, update_id),
    CONSTRAINT updates_kind_check CHECK (kind IN ('update', 'operations')),
    CONSTRAINT updates_status_check CHECK (
        status IN ('applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict', 'resolved')
    ),
    CONSTRAINT updates_version_check CHECK ((version IS NULL) = (context_id IS NULL)),
    CONSTRAINT updates_resolved_check CHECK ((status = 'resolved') = (resolved_by IS NOT NULL))
);
