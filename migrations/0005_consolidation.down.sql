DROP INDEX updates_consolidation_idx;
DROP INDEX records_marks_idx;
