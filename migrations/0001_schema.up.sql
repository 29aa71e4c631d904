-- The schema of working-memory, in one page.
--
-- A vault holds memories; a memory is one document with all its versions. What follows from the versions (records, their
-- history, full text, vectors) is kept beside them for reading and can be derived again.
--
-- Every key begins with vault_id, and every foreign key stays inside it: a vault lives on one node, so the same schema
-- is distributed by vault_id with Citus. What belongs to no vault stands under '*', which is no vault's id.
--
-- This file never changes once it was released: a change of the schema is a new migration, with its way back.


-- Memories and their versions ---------------------------------------------------------------------------------------

-- A row per memory: the row that its writers lock. It is there as long as the memory has a document or prompt items.
CREATE TABLE memories (
    vault_id         TEXT        NOT NULL,
    memory_id        TEXT        NOT NULL,
    -- A memory that is deleted and made again under the same id is another one: what began under the one is not saved
    -- into the other.
    identity         TEXT        NOT NULL DEFAULT gen_random_uuid()::text,
    head_version     BIGINT      NOT NULL,
    head_context_id  TEXT,
    -- The largest number ever given to a record of each kind, in the order of learnings, snippets, tasks, decisions;
    -- absent elements count as 0. They only grow, so that no id is given twice.
    counters         BIGINT[]    NOT NULL DEFAULT '{}',
    created_at       TIMESTAMPTZ NOT NULL,
    changed_at       TIMESTAMPTZ NOT NULL,
    -- The version whose words are in search_entries. Writers move head_version, the indexer follows.
    indexed_version  BIGINT      NOT NULL DEFAULT 0,
    -- A column of its own, so that the planner knows how rare it is, and so that a memory that is written again before
    -- it is indexed needs no new index entry.
    search_pending   BOOLEAN     NOT NULL GENERATED ALWAYS AS (indexed_version < head_version) STORED,
    -- The version whose passages are in search_vectors; NULL where no service with embeddings has indexed the memory.
    embedded_version BIGINT,
    CONSTRAINT memories_pkey PRIMARY KEY (vault_id, memory_id),
    -- Version 0: the memory has prompt items and no document yet.
    CONSTRAINT memories_head_check CHECK ((head_version = 0) = (head_context_id IS NULL) AND head_version >= 0),
    CONSTRAINT memories_counters_check CHECK (0 <= ALL (counters)),
    CONSTRAINT memories_indexed_check CHECK (indexed_version >= 0 AND indexed_version <= head_version)
);
-- Lists are in the order of bytes, so that one index serves their pages and their prefixes. It holds nothing that a new
-- version changes.
CREATE INDEX memories_list_idx ON memories (vault_id, memory_id COLLATE "C");
-- What the indexers have still to do, and nothing else.
CREATE INDEX memories_search_pending_idx ON memories (vault_id, memory_id) WHERE search_pending;
CREATE INDEX memories_embedding_pending_idx ON memories (vault_id, memory_id) WHERE embedded_version < indexed_version;

-- An immutable row per version. "Newest" is decided by the number, never by the clock alone.
CREATE TABLE memory_contexts (
    vault_id         TEXT        NOT NULL,
    memory_id        TEXT        NOT NULL,
    context_id       TEXT        NOT NULL,
    actor_id         TEXT        NOT NULL,
    context          TEXT        NOT NULL,
    creation_time    TIMESTAMPTZ NOT NULL,
    version          BIGINT      NOT NULL,
    source           TEXT        NOT NULL,
    bytes            INTEGER     NOT NULL,
    -- The run that made it, when one did.
    update_id        TEXT,
    -- What the service changed, record by record; the reasons of archivings stand only here.
    operations       JSONB,
    -- The change in words.
    log              TEXT        NOT NULL,
    -- Which version brought in each line: version, number of lines, version, number of lines … from the first line to the
    -- last. NULL where it was not known when the version was saved; blame derives it then.
    line_origins     BIGINT[],
    -- A redacted version keeps its place, size and maker. Its text is gone; by the hash, somebody with a copy can prove
    -- which text it was.
    redacted_at      TIMESTAMPTZ,
    redacted_by      TEXT,
    redaction_reason TEXT,
    redacted_sha256  TEXT,
    CONSTRAINT memory_contexts_pkey PRIMARY KEY (vault_id, memory_id, context_id),
    CONSTRAINT memory_contexts_version_key UNIQUE (vault_id, memory_id, version),
    CONSTRAINT memory_contexts_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT memory_contexts_version_check CHECK (version >= 1),
    CONSTRAINT memory_contexts_source_check CHECK (
        source IN ('put', 'update', 'operations', 'task', 'decision', 'status', 'restore', 'import', 'tool')
    ),
    -- Only a file of the memory tool may be empty.
    CONSTRAINT memory_contexts_bytes_check CHECK (bytes >= 1 OR (bytes = 0 AND source = 'tool')),
    CONSTRAINT memory_contexts_redacted_check CHECK (
        (redacted_at IS NULL AND redacted_by IS NULL AND redaction_reason IS NULL AND redacted_sha256 IS NULL
            AND (context <> '' OR source = 'tool'))
        OR (redacted_at IS NOT NULL AND redacted_by IS NOT NULL AND redaction_reason IS NOT NULL
            AND redacted_sha256 IS NOT NULL AND context = '' AND operations IS NULL)
    ),
    CONSTRAINT memory_contexts_line_origins_check CHECK (cardinality(line_origins) % 2 = 0)
);
-- Versions by time: "as of", and those that retention prunes.
CREATE INDEX memory_contexts_recent_idx ON memory_contexts (vault_id, memory_id, creation_time DESC);

-- How many memories and bytes a vault has: the sum of its rows. Each transaction that changes it adds a row of its own, so
-- that no writer waits for another one to count; the service sums up what has gathered.
CREATE TABLE vault_storage (
    vault_id  TEXT   NOT NULL,
    change_id TEXT   NOT NULL,
    memories  BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    CONSTRAINT vault_storage_pkey PRIMARY KEY (vault_id, change_id)
);

-- A tree of files of the memory tool: the row that those lock who make, move or unlink files in it.
CREATE TABLE memory_roots (
    vault_id TEXT NOT NULL,
    root     TEXT NOT NULL,
    CONSTRAINT memory_roots_pkey PRIMARY KEY (vault_id, root)
);

-- Which memory a file is. Directories exist by the files below them. The order is that of bytes, so that what stands
-- below a directory is one range of the key.
CREATE TABLE memory_paths (
    vault_id  TEXT             NOT NULL,
    root      TEXT             NOT NULL,
    path      TEXT COLLATE "C" NOT NULL,
    memory_id TEXT             NOT NULL,
    CONSTRAINT memory_paths_pkey PRIMARY KEY (vault_id, root, path),
    -- A memory is one file at most.
    CONSTRAINT memory_paths_memory_key UNIQUE (vault_id, memory_id),
    CONSTRAINT memory_paths_root_fkey FOREIGN KEY (vault_id, root)
        REFERENCES memory_roots (vault_id, root) ON DELETE CASCADE,
    CONSTRAINT memory_paths_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT memory_paths_path_check CHECK (
        starts_with(path, '/memories/') AND octet_length(path) BETWEEN 11 AND 1024
    )
);


-- Records: derived from the versions --------------------------------------------------------------------------------

-- The records of all versions in their present state, written with each version.
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
    -- The time on the line; where it has none, created_at counts.
    written_at      TIMESTAMPTZ,
    -- What was told of a task, whose line in the document has only intent and summary, in one: the id by which a second
    -- post of it is known, and in details, an object, what has no column.
    task_id         TEXT,
    intent          TEXT,
    summary         TEXT,
    outcome         JSONB,
    epic            TEXT,
    details         JSONB,
    CONSTRAINT records_pkey PRIMARY KEY (vault_id, memory_id, kind, number),
    CONSTRAINT records_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT records_kind_check CHECK (kind IN ('KL', 'VC', 'T', 'D')),
    CONSTRAINT records_number_check CHECK (number >= 1),
    CONSTRAINT records_status_check CHECK (
        (status = 'active' AND ended_version IS NULL AND ended_at IS NULL AND ended_by IS NULL
            AND archive_reason IS NULL AND superseded_by IS NULL)
        OR (status = 'archived' AND ended_version IS NOT NULL AND ended_at IS NOT NULL AND ended_by IS NOT NULL)
    ),
    CONSTRAINT records_task_check CHECK (
        kind = 'T' OR (task_id IS NULL AND intent IS NULL AND summary IS NULL AND outcome IS NULL AND epic IS NULL
            AND details IS NULL)
    ),
    CONSTRAINT records_details_check CHECK (jsonb_typeof(details) = 'object')
);
CREATE UNIQUE INDEX records_task_id_key ON records (vault_id, memory_id, task_id) WHERE task_id IS NOT NULL;
-- Archived tasks in the order of time: a page is read by key, however many there are.
CREATE INDEX records_history_idx ON records (vault_id, memory_id, (COALESCE(written_at, created_at)), number)
    WHERE kind = 'T' AND status = 'archived';

-- What became of each record, change by change.
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


-- Runs of /update and /operations -----------------------------------------------------------------------------------

-- A run with everything a person needs to see why it ended as it did. One that is accepted before it is run is queued, then
-- running under a claim that is a lease. No foreign key to memories: a run that failed on a memory that does not exist yet
-- is kept as well.
CREATE TABLE updates (
    vault_id      TEXT        NOT NULL,
    memory_id     TEXT        NOT NULL,
    -- A UUID of version 7: the order of the key is the order of time.
    update_id     TEXT        NOT NULL,
    kind          TEXT        NOT NULL,
    status        TEXT        NOT NULL,
    actor_id      TEXT        NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    finished_at   TIMESTAMPTZ,
    base_version  BIGINT      NOT NULL,
    version       BIGINT,
    context_id    TEXT,
    -- The run that finished this one by hand.
    resolved_by   TEXT,
    request       JSONB       NOT NULL,
    -- What the roles were asked and answered, without what stands elsewhere: {"packed": [...], "base": version}. There the
    -- instructions are {"instructions": hash} of run_instructions, and a text may be a list of pieces: a string, or the place
    -- of its bytes in another text, [which text, first byte, byte behind the last]. Text -1 is that of the base version;
    -- from 0 they are the task, the messages, then of each exchange its messages and its answer.
    exchanges     JSONB       NOT NULL,
    outcome       JSONB       NOT NULL,
    -- How often it was begun.
    attempts      INTEGER     NOT NULL DEFAULT 1,
    -- Its place in its memory's queue while it has not ended; the lowest is run first.
    queue_place   BIGINT,
    -- Not to be begun before, where an attempt failed.
    not_before    TIMESTAMPTZ,
    -- Which worker runs it, and until when nobody takes that one for dead.
    claim_id      TEXT,
    lease_until   TIMESTAMPTZ,
    -- Conditions on the head, tested again when it is saved.
    preconditions JSONB,
    CONSTRAINT updates_pkey PRIMARY KEY (vault_id, memory_id, update_id),
    CONSTRAINT updates_kind_check CHECK (kind IN ('update', 'operations')),
    CONSTRAINT updates_status_check CHECK (
        status IN ('queued', 'running', 'applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict', 'resolved',
                   'cancelled', 'proposed', 'approved', 'rejected', 'expired')
    ),
    CONSTRAINT updates_version_check CHECK ((version IS NULL) = (context_id IS NULL)),
    CONSTRAINT updates_resolved_check CHECK ((status = 'resolved') = (resolved_by IS NOT NULL)),
    CONSTRAINT updates_attempts_check CHECK (attempts >= 0),
    CONSTRAINT updates_queue_check CHECK (
        (status = 'queued' AND queue_place IS NOT NULL AND not_before IS NOT NULL AND claim_id IS NULL
            AND lease_until IS NULL AND finished_at IS NULL)
        OR (status = 'running' AND queue_place IS NOT NULL AND not_before IS NULL AND claim_id IS NOT NULL
            AND lease_until IS NOT NULL AND finished_at IS NULL)
        OR (status NOT IN ('queued', 'running') AND queue_place IS NULL AND not_before IS NULL AND claim_id IS NULL
            AND lease_until IS NULL AND finished_at IS NOT NULL)
    )
);
-- The queues of all memories, and nothing else: what workers look for.
CREATE UNIQUE INDEX updates_queue_key ON updates (vault_id, memory_id, queue_place) WHERE queue_place IS NOT NULL;
-- Of one memory one runs at a time, whoever runs it.
CREATE UNIQUE INDEX updates_running_key ON updates (vault_id, memory_id) WHERE status = 'running';
-- What somebody has to look at, or has looked at, over all memories of a vault; most runs are not in it.
CREATE INDEX updates_review_idx ON updates (vault_id, status, update_id)
    WHERE status IN ('proposed', 'approved', 'rejected', 'expired', 'invalid', 'failed', 'conflict');
-- Runs that ended long ago, where retention.runs_max_age is set.
CREATE INDEX updates_finished_idx ON updates (vault_id, finished_at) WHERE finished_at IS NOT NULL;

-- The constant instructions of models, once per vault. Nothing of a memory stands in them.
CREATE TABLE run_instructions (
    vault_id TEXT NOT NULL,
    -- SHA-256 of the text, in hexadecimal digits.
    hash     TEXT NOT NULL,
    text     TEXT NOT NULL,
    CONSTRAINT run_instructions_pkey PRIMARY KEY (vault_id, hash)
);

-- What models cost, per vault, day and model; each run adds to a row. No memory: tokens stay spent when one is deleted.
CREATE TABLE model_usage (
    vault_id           TEXT   NOT NULL,
    -- In UTC.
    day                DATE   NOT NULL,
    model              TEXT   NOT NULL,
    role               TEXT   NOT NULL,
    -- Requests to the model's server, repeated ones included.
    calls              BIGINT NOT NULL,
    -- Runs that asked it, and those of them in which it failed.
    runs               BIGINT NOT NULL,
    failures           BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    -- Of the input tokens.
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    millis             BIGINT NOT NULL,
    CONSTRAINT model_usage_pkey PRIMARY KEY (vault_id, day, model, role),
    CONSTRAINT model_usage_counts_check CHECK (
        calls >= 0 AND runs >= 0 AND failures >= 0 AND input_tokens >= 0 AND cached_tokens >= 0
        AND cache_write_tokens >= 0 AND output_tokens >= 0 AND millis >= 0
    )
);


-- Prompt items and handoffs -----------------------------------------------------------------------------------------

-- Parts of system prompts that components own. An item never changes: it is added and removed. With '' for memory_id it
-- belongs to the vault, and so to all of its memories; that is why there is no foreign key, and whoever deletes a memory
-- deletes its items.
CREATE TABLE prompt_items (
    vault_id   TEXT             NOT NULL,
    memory_id  TEXT             NOT NULL,
    item_id    TEXT COLLATE "C" NOT NULL,
    category   TEXT COLLATE "C" NOT NULL,
    content    TEXT             NOT NULL,
    metadata   JSONB            NOT NULL,
    -- From then on it is never shown; NULL for one that stays.
    expires_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ      NOT NULL,
    created_by TEXT             NOT NULL,
    CONSTRAINT prompt_items_pkey PRIMARY KEY (vault_id, memory_id, item_id),
    CONSTRAINT prompt_items_content_check CHECK (content <> ''),
    CONSTRAINT prompt_items_metadata_check CHECK (jsonb_typeof(metadata) = 'object')
);
-- The order in which items are listed and assembled.
CREATE INDEX prompt_items_order_idx ON prompt_items (vault_id, memory_id, category, created_at, item_id);
-- What the purge looks for, over all vaults.
CREATE INDEX prompt_items_expires_idx ON prompt_items (expires_at) WHERE expires_at IS NOT NULL;

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


-- Search: derived from the newest versions, outside the write -------------------------------------------------------

-- The words of each memory's newest version.
CREATE TABLE search_entries (
    vault_id      TEXT        NOT NULL,
    memory_id     TEXT        NOT NULL,
    version       BIGINT      NOT NULL,
    -- The version's: of very many matches the newest are ranked.
    creation_time TIMESTAMPTZ NOT NULL,
    words         TSVECTOR    NOT NULL,
    CONSTRAINT search_entries_pkey PRIMARY KEY (vault_id, memory_id),
    CONSTRAINT search_entries_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT search_entries_version_check CHECK (version >= 1)
);
-- Words carry their vault as one more lexeme, so this index needs no other column. Its list of entries not yet merged, which
-- every search reads, is kept short.
CREATE INDEX search_entries_words_idx ON search_entries USING gin (words) WITH (gin_pending_list_limit = 256);
-- Of words that stand in most documents of a vault the newest are looked at.
CREATE INDEX search_entries_newest_idx ON search_entries (vault_id, creation_time DESC, memory_id);

-- Embedding models that vectors were made with: a row per model, dimensions and document prefix, under '*'.
CREATE TABLE embedding_spaces (
    vault_id        TEXT        NOT NULL,
    -- A hash of model, dimensions and document prefix.
    space_id        TEXT        NOT NULL,
    model           TEXT        NOT NULL,
    dimensions      INTEGER     NOT NULL,
    query_prefix    TEXT        NOT NULL,
    document_prefix TEXT        NOT NULL,
    -- When a service was last started with another space than the one before: the newest is the one being indexed.
    activated_at    TIMESTAMPTZ NOT NULL,
    -- When all memories had been marked to be embedded anew.
    marked_at       TIMESTAMPTZ,
    -- When every memory had its vectors: from then on it answers, and the one before is deleted.
    ready_at        TIMESTAMPTZ,
    CONSTRAINT embedding_spaces_pkey PRIMARY KEY (vault_id, space_id),
    CONSTRAINT embedding_spaces_vault_check CHECK (vault_id = '*'),
    CONSTRAINT embedding_spaces_dimensions_check CHECK (dimensions BETWEEN 1 AND 8192)
);

-- The vectors of a memory's passages, side by side: a search reads a vault's rows one after another, and there are fewer
-- of them than passages. No text: a passage is found again by its hash.
CREATE TABLE search_vectors (
    vault_id  TEXT     NOT NULL,
    space_id  TEXT     NOT NULL,
    memory_id TEXT     NOT NULL,
    -- 16 bytes each: which passage it is.
    hashes    BYTEA    NOT NULL,
    -- 1 byte each: which kind of record, archived or not, refused by the model or not.
    flags     BYTEA    NOT NULL,
    -- Which record; 0 for free text.
    numbers   BIGINT[] NOT NULL,
    -- 1 bit a dimension, rounded up to bytes: what all of a vault are compared by.
    signs     BYTEA    NOT NULL,
    -- 1 byte a dimension: what the nearest are compared by. Stored outside the row and not compressed, so that one vector
    -- of many is read by itself.
    vectors   BYTEA    NOT NULL,
    CONSTRAINT search_vectors_pkey PRIMARY KEY (vault_id, space_id, memory_id),
    CONSTRAINT search_vectors_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT search_vectors_lengths_check CHECK (
        octet_length(hashes) = 16 * octet_length(flags) AND cardinality(numbers) = octet_length(flags)
    )
);
ALTER TABLE search_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
CREATE INDEX search_vectors_memory_idx ON search_vectors (vault_id, memory_id);


-- Events ------------------------------------------------------------------------------------------------------------

CREATE SEQUENCE events_insert_order_seq;

-- What happened in a vault, written by the transaction in which it happened: ids and names, never a document's text.
-- A writer leaves the sequence open; whoever reads the vault gives the next ones to what is committed by then.
CREATE TABLE events (
    vault_id   TEXT        NOT NULL,
    -- A UUID of version 7.
    event_id   TEXT        NOT NULL,
    sequence   BIGINT,
    -- In which order events were written, by the database alone: clocks of instances differ, and are set back. Writers of
    -- one memory insert under the lock of its row, so within a memory this is the order in which things happened.
    insert_order BIGINT NOT NULL DEFAULT nextval('events_insert_order_seq'),
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
    CONSTRAINT events_kind_check CHECK (
        kind IN ('version', 'update', 'handoff', 'memory_deleted', 'redacted', 'items', 'proposed', 'approved', 'rejected')
    ),
    CONSTRAINT events_sequence_check CHECK (sequence >= 1),
    CONSTRAINT events_version_check CHECK ((version IS NULL) = (context_id IS NULL))
);
ALTER SEQUENCE events_insert_order_seq OWNED BY events.insert_order;
CREATE UNIQUE INDEX events_sequence_key ON events (vault_id, sequence);
-- That there was a proposal is known for as long as its event is, also after its memory was deleted.
CREATE INDEX events_proposed_idx ON events (vault_id, update_id) WHERE kind = 'proposed';

-- A row per vault that has been read: the row that whoever gives sequences locks.
CREATE TABLE event_streams (
    vault_id        TEXT   NOT NULL,
    last_sequence   BIGINT NOT NULL,
    last_event_id   TEXT,
    -- Up to here events are deleted.
    purged_sequence BIGINT NOT NULL,
    CONSTRAINT event_streams_pkey PRIMARY KEY (vault_id),
    CONSTRAINT event_streams_sequence_check CHECK (purged_sequence >= 0 AND purged_sequence <= last_sequence)
);


-- Requests and access -----------------------------------------------------------------------------------------------

-- First answers of requests with an Idempotency-Key, kept to be given again.
CREATE TABLE idempotency_keys (
    vault_id        TEXT        NOT NULL,
    -- Who asks: two callers may choose the same key.
    caller          TEXT        NOT NULL,
    idempotency_key TEXT        NOT NULL,
    -- The memory it went to: what is kept of it goes with that.
    memory_id       TEXT,
    -- SHA-256 of the request, to tell a retry from another request.
    fingerprint     BYTEA       NOT NULL,
    status          TEXT        NOT NULL,
    -- Which running request holds the key, and until when nobody takes it for dead.
    claim_id        TEXT        NOT NULL,
    lease_until     TIMESTAMPTZ,
    created_at      TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    answer_status   INTEGER,
    answer_headers  JSONB,
    answer_body     BYTEA,
    -- What the request saved, written by the transaction that saves it: whoever takes over from a process that died before
    -- it kept its answer answers from that.
    saved_kind      TEXT,
    saved_id        TEXT,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (vault_id, caller, idempotency_key),
    CONSTRAINT idempotency_keys_key_check CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_fingerprint_check CHECK (octet_length(fingerprint) = 32),
    CONSTRAINT idempotency_keys_expires_check CHECK (expires_at > created_at),
    -- Of what was redacted or deleted the key stays, so that a late retry does not run again; the answer goes.
    CONSTRAINT idempotency_keys_status_check CHECK (
        (status = 'running' AND lease_until IS NOT NULL AND answer_status IS NULL AND answer_headers IS NULL
            AND answer_body IS NULL)
        OR (status = 'done' AND lease_until IS NULL AND answer_status IS NOT NULL AND answer_headers IS NOT NULL
            AND answer_body IS NOT NULL)
        OR (status IN ('redacted', 'deleted') AND lease_until IS NULL AND answer_status IS NULL
            AND answer_headers IS NULL AND answer_body IS NULL)
    ),
    CONSTRAINT idempotency_keys_saved_check CHECK (
        (saved_kind IS NULL AND saved_id IS NULL)
        OR (saved_kind IN ('version', 'run', 'queued', 'item') AND saved_id IS NOT NULL)
    )
);
-- What the purge looks for, over all vaults.
CREATE INDEX idempotency_keys_expires_idx ON idempotency_keys (expires_at);

-- API keys, under '*': one may reach many vaults. Rows are never deleted by the service: that there ever was a key is what
-- keeps a service from answering everybody again when the last one has ended.
CREATE TABLE api_keys (
    vault_id          TEXT        NOT NULL,
    -- Stands in front of the secret in what the holder shows.
    key_id            TEXT        NOT NULL,
    -- The actor of what its holder writes.
    name              TEXT        NOT NULL,
    role              TEXT        NOT NULL,
    -- The vaults it reaches: these, or those that begin so, or all if neither is there.
    vaults            TEXT[],
    vault_prefix      TEXT,
    speaks_for_others BOOLEAN     NOT NULL,
    -- SHA-256 of what the holder shows, and of what was shown before a rotation, while that is still taken.
    secret_hash       BYTEA       NOT NULL,
    previous_hash     BYTEA,
    previous_until    TIMESTAMPTZ,
    created_by        TEXT        NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    rotated_at        TIMESTAMPTZ,
    expires_at        TIMESTAMPTZ,
    revoked_at        TIMESTAMPTZ,
    CONSTRAINT api_keys_pkey PRIMARY KEY (vault_id, key_id),
    CONSTRAINT api_keys_vault_check CHECK (vault_id = '*'),
    CONSTRAINT api_keys_role_check CHECK (role IN ('reader', 'proposer', 'writer', 'admin')),
    CONSTRAINT api_keys_scope_check CHECK (
        (vaults IS NULL OR vault_prefix IS NULL) AND (vaults IS NULL OR cardinality(vaults) >= 1)
        AND (vault_prefix IS NULL OR vault_prefix <> '')
    ),
    CONSTRAINT api_keys_secret_check CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT api_keys_previous_check CHECK (
        (previous_hash IS NULL AND previous_until IS NULL)
        OR (octet_length(previous_hash) = 32 AND previous_until IS NOT NULL)
    ),
    CONSTRAINT api_keys_expires_check CHECK (expires_at > created_at)
);

-- Sessions of people at the dashboard. A session belongs to a key and ends with it. What a browser holds is not stored, only
-- its SHA-256.
CREATE TABLE sessions (
    vault_id     TEXT        NOT NULL,
    session_hash BYTEA       NOT NULL,
    key_id       TEXT        NOT NULL,
    -- Of the key as it was shown: a session ends when that secret is not taken any more, also by a rotation.
    secret_hash  BYTEA       NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (vault_id, session_hash),
    CONSTRAINT sessions_key_fkey FOREIGN KEY (vault_id, key_id) REFERENCES api_keys (vault_id, key_id)
        ON DELETE CASCADE,
    CONSTRAINT sessions_vault_check CHECK (vault_id = '*'),
    CONSTRAINT sessions_hash_check CHECK (octet_length(session_hash) = 32 AND octet_length(secret_hash) = 32),
    CONSTRAINT sessions_expires_check CHECK (expires_at > created_at)
);
-- The sessions of one key, the oldest first; and those that have expired.
CREATE INDEX sessions_key_idx ON sessions (vault_id, key_id, created_at);
CREATE INDEX sessions_expires_idx ON sessions (vault_id, expires_at);


-- Compression -------------------------------------------------------------------------------------------------------

-- LZ4 takes a fraction of the time of PostgreSQL's own method and a little more room. A server that was built without it
-- keeps its method.
DO $$
BEGIN
    ALTER TABLE memory_contexts
        ALTER COLUMN context SET COMPRESSION lz4,
        ALTER COLUMN operations SET COMPRESSION lz4,
        ALTER COLUMN log SET COMPRESSION lz4;
    ALTER TABLE updates
        ALTER COLUMN request SET COMPRESSION lz4,
        ALTER COLUMN exchanges SET COMPRESSION lz4,
        ALTER COLUMN outcome SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported THEN
        RAISE NOTICE 'This server does not know LZ4: texts are compressed by its own method.';
END
$$;
