DROP TABLE memory_paths;
DROP TABLE memory_roots;
-- The schema before knows neither who made these versions nor empty ones: they count as put, and a line end stands for
-- nothing.
UPDATE memory_contexts SET context = E'\n', bytes = 1, line_origins = NULL
WHERE source = 'tool' AND context = '' AND redacted_at IS NULL;
UPDATE memory_contexts SET source = 'put', bytes = GREATEST(bytes, 1) WHERE source = 'tool';
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_source_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_source_check CHECK (
    source IN ('put', 'update', 'operations', 'task', 'decision', 'status', 'restore', 'import')
);
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_bytes_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_bytes_check CHECK (bytes >= 1);
ALTER TABLE memory_contexts DROP CONSTRAINT memory_contexts_redacted_check;
ALTER TABLE memory_contexts ADD CONSTRAINT memory_contexts_redacted_check CHECK (
    (redacted_at IS NULL AND redacted_by IS NULL AND redaction_reason IS NULL AND redacted_sha256 IS NULL
        AND context <> '')
    OR (redacted_at IS NOT NULL AND redacted_by IS NOT NULL AND redaction_reason IS NOT NULL
        AND redacted_sha256 IS NOT NULL AND context = '' AND operations IS NULL)
);
