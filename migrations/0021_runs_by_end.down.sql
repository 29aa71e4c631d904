DROP INDEX updates_finished_idx;
