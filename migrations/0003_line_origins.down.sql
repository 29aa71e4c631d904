ALTER TABLE memory_contexts
    DROP CONSTRAINT memory_contexts_line_origins_check,
    DROP COLUMN line_origins;
