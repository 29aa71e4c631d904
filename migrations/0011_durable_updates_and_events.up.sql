-- Updates that are accepted before they are run. A row is queued, then running under a claim that is a lease, then
-- what runs have always ended as, or cancelled. All that is there has ended.
ALTER TABLE updates
    ALTER COLUMN finished_at DROP NOT NULL,
    -- How often it was begun.
    ADD COLUMN attempts      INTEGER NOT NULL DEFAULT 1,
    -- Its place in its memory's line while it is not finished; the lowest is run first.
    ADD COLUMN queue_place   BIGINT,
    -- Not to be begun before, where an attempt failed.
    ADD COLUMN not_before    TIMESTAMPTZ,
    -- Which worker runs it, and until when nobody takes that one for dead.
    ADD COLUMN claim_id      TEXT,
    ADD COLUMN lease_until   TIMESTAMPTZ,
    -- Conditions on the head, to be tested again when it is saved.
    ADD COLUMN preconditions JSONB,
    DROP CONSTRAINT updates_status_check,
    ADD CONSTRAINT updates_status_check CHECK (
        status IN ('queued', 'running', 'applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict',
                   'resolved', 'cancelled')
    ),
    ADD CONSTRAINT updates_attempts_check CHECK (attempts >= 0),
    ADD CONSTRAINT updates_queue_check CHECK (
        (status = 'queued' AND queue_place IS NOT NULL AND not_before IS NOT NULL AND claim_id IS NULL
            AND lease_until IS NULL AND finished_at IS NULL)
        OR (status = 'running' AND queue_place IS NOT NULL AND not_before IS NULL AND claim_id IS NOT NULL
            AND lease_until IS NOT NULL AND finished_at IS NULL)
        OR (status NOT IN ('queued', 'running') AND queue_place IS NULL AND not_before IS NULL AND claim_id IS NULL
            AND lease_until IS NULL AND finished_at IS NOT NULL)
    );
-- The lines of all memories, and nothing else: what workers look for.
CREATE UNIQUE INDEX updates_queue_key ON updates (vault_id, memory_id, queue_place) WHERE queue_place IS NOT NULL;
-- Of one memory one runs at a time, whoever runs it.
CREATE UNIQUE INDEX updates_running_key ON updates (vault_id, memory_id) WHERE status = 'running';

-- What happened in a vault, written in the transaction in which it happened: ids and names, never a document's text.
-- A writer leaves the sequence open; whoever reads the vault gives the next ones to what is committed by then.
CREATE TABLE events (
    vault_id   TEXT        NOT NULL,
    -- A UUID of version 7.
    event_id   TEXT        NOT NULL,
    sequence   BIGINT,
    memory_id  TEXT        NOT NULL,
    kind       TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    version    BIGINT,
    context_id TEXT,
    actor_id   TEXT,
    source     TEXT,
    update_id  TEXT,
    details    JSONB,
    CONSTRAINT events_pkey PRIMARY KEY (vault_id, event_id),
    CONSTRAINT events_kind_check CHECK (kind IN ('version', 'update', 'handoff', 'memory_deleted')),
    CONSTRAINT events_sequence_check CHECK (sequence >= 1),
    CONSTRAINT events_version_check CHECK ((version IS NULL) = (context_id IS NULL))
);
CREATE UNIQUE INDEX events_sequence_key ON events (vault_id, sequence);

-- One row a vault that has been read: the row that whoever gives sequences locks.
CREATE TABLE event_streams (
    vault_id        TEXT   NOT NULL,
    last_sequence   BIGINT NOT NULL,
    last_event_id   TEXT,
    -- Up to here events are deleted.
    purged_sequence BIGINT NOT NULL,
    CONSTRAINT event_streams_pkey PRIMARY KEY (vault_id),
    CONSTRAINT event_streams_sequence_check CHECK (purged_sequence >= 0 AND purged_sequence <= last_sequence)
);
