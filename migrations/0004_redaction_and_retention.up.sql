-- A redacted version keeps its row: its place, its size, its maker, and who took the text out, when and why.
-- The text itself is gone; its hash lets somebody who has a copy prove which text it was.
ALTER TABLE memory_contexts
    ADD COLUMN redacted_at      TIMESTAMPTZ,
    ADD COLUMN redacted_by      TEXT,
    ADD COLUMN redaction_reason TEXT,
    ADD COLUMN redacted_sha256  TEXT,
    ADD CONSTRAINT memory_contexts_redacted_check CHECK (
        (redacted_at IS NULL AND redacted_by IS NULL AND redaction_reason IS NULL AND redacted_sha256 IS NULL
            AND context <> '')
        OR (redacted_at IS NOT NULL AND redacted_by IS NOT NULL AND redaction_reason IS NOT NULL
            AND redacted_sha256 IS NOT NULL AND context = '' AND operations IS NULL)
    );

-- Lists of memories are in the order of bytes, so that one index serves their pages and their prefixes. It
-- holds nothing that a new version changes, so that writes stay as cheap as they are.
CREATE INDEX memories_list_idx ON memories (vault_id, memory_id COLLATE "C");
