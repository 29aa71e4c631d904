DROP TABLE search_entries;
DROP INDEX memories_search_pending_idx;
ALTER TABLE memories
    DROP CONSTRAINT memories_indexed_check,
    DROP COLUMN search_pending,
    DROP COLUMN indexed_version;
