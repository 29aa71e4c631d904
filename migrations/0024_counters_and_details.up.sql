-- What is to come of kinds of records and of what is told of tasks needs no column of its own. Nothing here rewrites or reads
-- a table: the columns are empty, and the checks are for rows to come.

-- The largest number ever given to a record of each kind, in the order of the kinds; absent elements count as 0. Programs
-- before this schema know the four columns alone: as long as they may run, the columns are written too, and the greater of
-- both is the counter. What does not name the four leaves them to their defaults.
ALTER TABLE memories ADD COLUMN counters BIGINT[];
ALTER TABLE memories ADD CONSTRAINT memories_counters_numbers_check CHECK (0 <= ALL (counters)) NOT VALID;
ALTER TABLE memories ALTER COLUMN learning_counter SET DEFAULT 0;
ALTER TABLE memories ALTER COLUMN verbatim_counter SET DEFAULT 0;
ALTER TABLE memories ALTER COLUMN task_counter SET DEFAULT 0;
ALTER TABLE memories ALTER COLUMN decision_counter SET DEFAULT 0;

-- What was told of a task and has no column: an object, a member each. `outcome` and `epic` keep their columns.
ALTER TABLE records ADD COLUMN details JSONB;
ALTER TABLE records ADD CONSTRAINT records_details_check CHECK (
    details IS NULL OR (kind = 'T' AND jsonb_typeof(details) = 'object')
) NOT VALID;
