DROP INDEX events_deleted_idx;
