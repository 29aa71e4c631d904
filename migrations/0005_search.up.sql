-- Full text is indexed outside the write. The write path moves head_version, as it always did; the indexer follows
-- with indexed_version, and the partial index names the memories where it has still to, and nothing else. The
-- difference is a column of its own so that the planner knows how rare it is, and so that a memory that is written
-- again before it is indexed needs no new index entry.
ALTER TABLE memories
    ADD COLUMN indexed_version BIGINT  NOT NULL DEFAULT 0,
    ADD COLUMN search_pending  BOOLEAN NOT NULL GENERATED ALWAYS AS (indexed_version < head_version) STORED,
    ADD CONSTRAINT memories_indexed_check CHECK (indexed_version >= 0 AND indexed_version <= head_version);
CREATE INDEX memories_search_pending_idx ON memories (vault_id, memory_id) WHERE search_pending;

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
-- Words carry their vault as one more lexeme, so this index needs no other column. Its list of entries not yet
-- merged, which every search reads, is kept short.
CREATE INDEX search_entries_words_idx ON search_entries USING gin (words) WITH (gin_pending_list_limit = 256);
