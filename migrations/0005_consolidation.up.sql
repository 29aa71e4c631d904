-- Records with marks: few, and those that expire are looked for over all memories.
CREATE INDEX records_marks_idx ON records (vault_id, memory_id) WHERE marks IS NOT NULL AND status = 'active';

-- The consolidations of a memory: how many records are new since the last one, and which proposal a new one replaces.
CREATE INDEX updates_consolidation_idx ON updates (vault_id, memory_id, update_id) WHERE kind = 'consolidation';
