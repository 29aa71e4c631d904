-- Which version brought each line of a version in: version, number of lines, version, number of lines … from the
-- first line to the last. Derived from the version before and the two texts in the writer's transaction, so that
-- blame need not read every text of a memory. NULL where it is not known: it is then derived when it is asked for.
ALTER TABLE memory_contexts
    ADD COLUMN line_origins BIGINT[],
    ADD CONSTRAINT memory_contexts_line_origins_check CHECK (cardinality(line_origins) % 2 = 0);
