ALTER TABLE records DROP CONSTRAINT records_details_check;
ALTER TABLE records DROP COLUMN details;

-- The programs of this schema write the columns too; where something else did not, the numbers must not be given again.
UPDATE memories
SET learning_counter = GREATEST(learning_counter, counters[1]), verbatim_counter = GREATEST(verbatim_counter, counters[2]),
    task_counter = GREATEST(task_counter, counters[3]), decision_counter = GREATEST(decision_counter, counters[4])
WHERE counters[1] > learning_counter OR counters[2] > verbatim_counter OR counters[3] > task_counter
   OR counters[4] > decision_counter;
ALTER TABLE memories ALTER COLUMN learning_counter DROP DEFAULT;
ALTER TABLE memories ALTER COLUMN verbatim_counter DROP DEFAULT;
ALTER TABLE memories ALTER COLUMN task_counter DROP DEFAULT;
ALTER TABLE memories ALTER COLUMN decision_counter DROP DEFAULT;
ALTER TABLE memories DROP CONSTRAINT memories_counters_numbers_check;
ALTER TABLE memories DROP COLUMN counters;
