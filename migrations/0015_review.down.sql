-- A key that may only propose may only read where nothing can be proposed.
UPDATE api_keys SET role = 'reader' WHERE role = 'proposer';
ALTER TABLE api_keys DROP CONSTRAINT api_keys_role_check;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_role_check CHECK (role IN ('reader', 'writer', 'admin'));

DROP INDEX events_proposed_idx;
DELETE FROM events WHERE kind IN ('proposed', 'approved', 'rejected');
ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (
    kind IN ('version', 'update', 'handoff', 'memory_deleted', 'redacted', 'items')
);

DROP INDEX updates_review_idx;
-- What made a version was applied; what made none is nothing the schema before knows.
UPDATE updates SET status = CASE WHEN version IS NULL THEN 'unchanged' ELSE 'applied' END WHERE status = 'approved';
DELETE FROM updates WHERE status IN ('proposed', 'rejected', 'expired');
ALTER TABLE updates DROP CONSTRAINT updates_status_check;
ALTER TABLE updates ADD CONSTRAINT updates_status_check CHECK (
    status IN ('queued', 'running', 'applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict', 'resolved',
               'cancelled')
);
