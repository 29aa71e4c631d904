-- Search by meaning: what an embedding model makes of the passages of each memory's newest document and of its records.
-- Empty, and never looked at, where no embeddings are configured.

-- Models that vectors were made with. A row a (model, dimensions, document prefix), under '*' like all that belongs to
-- no vault.
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

-- Null where no service with embeddings has indexed the memory. It follows indexed_version, as that follows
-- head_version; the partial index names the memories where it has still to.
ALTER TABLE memories ADD COLUMN embedded_version BIGINT;
CREATE INDEX memories_embedding_pending_idx ON memories (vault_id, memory_id)
    WHERE embedded_version < indexed_version;

-- The vectors of a memory's passages, side by side: a search reads a vault's rows one after another, and fewer of them
-- than there are passages. No text: a passage is found again by its hash.
CREATE TABLE search_vectors (
    vault_id   TEXT   NOT NULL,
    space_id   TEXT   NOT NULL,
    memory_id  TEXT   NOT NULL,
    -- 16 bytes each: which passage it is.
    hashes     BYTEA  NOT NULL,
    -- 1 byte each: which kind of record, archived or not, refused by the model or not.
    flags      BYTEA  NOT NULL,
    -- Which record; 0 for free text.
    numbers    BIGINT[] NOT NULL,
    -- 1 bit a dimension, rounded up to bytes: what all of a vault are compared by.
    signs      BYTEA  NOT NULL,
    -- 1 byte a dimension: what the nearest are compared by.
    vectors    BYTEA  NOT NULL,
    CONSTRAINT search_vectors_pkey PRIMARY KEY (vault_id, space_id, memory_id),
    CONSTRAINT search_vectors_memory_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES memories (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT search_vectors_lengths_check CHECK (
        octet_length(hashes) = 16 * octet_length(flags) AND cardinality(numbers) = octet_length(flags)
    )
);
-- Stored beside the rows and not packed, so that one vector of many is read by itself.
ALTER TABLE search_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
CREATE INDEX search_vectors_memory_idx ON search_vectors (vault_id, memory_id);

-- Of words that stand in most documents of a vault the newest are looked at.
CREATE INDEX search_entries_newest_idx ON search_entries (vault_id, creation_time DESC, memory_id);
