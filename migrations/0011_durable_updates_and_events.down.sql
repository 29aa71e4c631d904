DROP TABLE event_streams;
DROP TABLE events;
DROP INDEX updates_running_key;
DROP INDEX updates_queue_key;
-- What has not ended, or was called off, is nothing the schema before knows.
DELETE FROM updates WHERE status IN ('queued', 'running', 'cancelled');
ALTER TABLE updates
    DROP CONSTRAINT updates_queue_check,
    DROP CONSTRAINT updates_attempts_check,
    DROP CONSTRAINT updates_status_check,
    ADD CONSTRAINT updates_status_check CHECK (
        status IN ('applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict', 'resolved')
    ),
    DROP COLUMN preconditions,
    DROP COLUMN lease_until,
    DROP COLUMN claim_id,
    DROP COLUMN not_before,
    DROP COLUMN queue_place,
    DROP COLUMN attempts,
    ALTER COLUMN finished_at SET NOT NULL;
