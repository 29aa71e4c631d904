-- What began while a memory did not exist is not saved after it was made and deleted.
CREATE INDEX events_deleted_idx ON events (vault_id, memory_id, insert_order) WHERE kind = 'memory_deleted';
