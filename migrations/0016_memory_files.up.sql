-- A tree of files of the memory tool: the row that those lock who make, move or unlink files in it.
CREATE TABLE memory_roots (
    vault_id TEXT NOT NULL,
    root     TEXT NOT NULL,
    CONSTRAINT memory_roots_pkey PRIMARY KEY (vault_id, root)
);

-- Which memory a file is. Directories are not kept: they exist by the files below them. The order is that of bytes, so
-- that what stands below a directory is one range of the key.
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

-- A file is what its writer made of it: it alone may be empty.
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_source_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_source_check CHECK (
    source IN ('put', 'update', 'operations', 'task', 'decision', 'status', 'restore', 'import', 'tool')
);
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_bytes_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_bytes_check CHECK (
    bytes >= 1 OR (bytes = 0 AND source = 'tool')
);
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_redacted_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_redacted_check CHECK (
    (redacted_at IS NULL AND redacted_by IS NULL AND redaction_reason IS NULL AND redacted_sha256 IS NULL
        AND (context <> '' OR source = 'tool'))
    OR (redacted_at IS NOT NULL AND redacted_by IS NOT NULL AND redaction_reason IS NOT NULL
        AND redacted_sha256 IS NOT NULL AND context = '' AND operations IS NULL)
);
