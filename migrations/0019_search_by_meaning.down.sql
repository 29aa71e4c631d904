DROP INDEX search_entries_newest_idx;
DROP TABLE search_vectors;
DROP INDEX memories_embedding_pending_idx;
ALTER TABLE memories DROP COLUMN embedded_version;
DROP TABLE embedding_spaces;
