-- Every key begins with vault_id, every foreign key stays inside it: a vault lives on one shard, so the
-- same schema distributes on Citus by vault_id.

-- One row a memory: the row that writers lock. The counters are the largest number ever given to a record
-- of that kind; they only grow, so no id is used twice.
CREATE TABLE memories (
    vault_id         TEXT        NOT NULL,
    memory_id        TEXT        NOT NULL,
    head_version     BIGINT      NOT NULL,
    head_context_id  TEXT,
    learning_counter BIGINT      NOT NULL,
    verbatim_counter BIGINT      NOT NULL,
    task_counter     BIGINT      NOT NULL,
    decision_counter BIGINT      NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    changed_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT memories_pkey PRIMARY KEY (vault_id, memory_id),
    -- Version 0 is the moment between making the row and its first version, inside one transaction.
    CONSTRAINT memories_head_check CHECK ((head_version = 0) = (head_context_id IS NULL) AND head_version >= 0),
    CONSTRAINT memories_counters_check CHECK (
        learning_counter >= 0 AND verbatim_counter >= 0 AND task_counter >= 0 AND decision_counter >= 0
    )
);

-- One immutable row a version. "Latest" is decided by the version number, never by the clock alone.
CREATE TABLE memory_contexts (
    vault_id      TEXT        NOT NULL,
    memory_id     TEXT        NOT NULL,
    context_id    TEXT        NOT NULL,
    actor_id      TEXT        NOT NULL,
    context       TEXT        NOT NULL,
    creation_time TIMESTAMPTZ NOT NULL,
    version       BIGINT      NOT NULL,
    source        TEXT        NOT NULL,
    bytes         INTEGER     NOT NULL,
    -- The run of the pipeline that made it, when one did.
    update_id     TEXT,
    -- What a service-made change did, record by record; reasons of archivings live only here.
    operations    JSONB,
    -- The change in words.
    log           TEXT        NOT NULL,
    CONSTRAINT memory_contexts_pkey PRIMARY KEY (vault_id, memory_id, context_id),
    CONSTRAINT memory_contexts_version_key UNIQUE (vault_id, memory_id, version),
    CONSTRAINT memory_contexts_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT memory_contexts_version_check CHECK (version >= 1),
    CONSTRAINT memory_contexts_bytes_check CHECK (bytes >= 1),
    CONSTRAINT memory_contexts_source_check CHECK (
        source IN ('put', 'update', 'operations', 'task', 'decision', 'status', 'restore', 'import')
    )
);
CREATE INDEX memory_contexts_recent_idx ON memory_contexts (vault_id, memory_id, creation_time DESC);

-- The records of all versions with their present state: a projection of the versions, kept in the
-- writer's transaction, rebuildable from them.
CREATE TABLE records (
    vault_id        TEXT        NOT NULL,
    memory_id       TEXT        NOT NULL,
    kind            TEXT        NOT NULL,
    number          BIGINT      NOT NULL,
    status          TEXT        NOT NULL,
    label           TEXT,
    reason          TEXT,
    content         TEXT        NOT NULL,
    created_version BIGINT      NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    created_by      TEXT        NOT NULL,
    ended_version   BIGINT,
    ended_at        TIMESTAMPTZ,
    ended_by        TEXT,
    archive_reason  TEXT,
    superseded_by   TEXT,
    CONSTRAINT records_pkey PRIMARY KEY (vault_id, memory_id, kind, number),
    CONSTRAINT records_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT records_kind_check CHECK (kind IN ('KL', 'VC', 'T', 'D')),
    CONSTRAINT records_number_check CHECK (number >= 1),
    CONSTRAINT records_status_check CHECK (
        (status = 'active' AND ended_version IS NULL AND ended_at IS NULL AND ended_by IS NULL
            AND archive_reason IS NULL AND superseded_by IS NULL)
        OR (status = 'archived' AND ended_version IS NOT NULL AND ended_at IS NOT NULL AND ended_by IS NOT NULL)
    )
);
