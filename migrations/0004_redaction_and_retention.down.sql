DROP INDEX memories_list_idx;
ALTER TABLE memory_contexts
    DROP CONSTRAINT memory_contexts_redacted_check,
    DROP COLUMN redacted_at,
    DROP COLUMN redacted_by,
    DROP COLUMN redaction_reason,
    DROP COLUMN redacted_sha256;
