-- Updates that wait for somebody to approve them, and the role of those who may only propose. One change a statement:
-- distributed tables take no more.
ALTER TABLE updates DROP CONSTRAINT updates_status_check;
ALTER TABLE updates ADD CONSTRAINT updates_status_check CHECK (
    status IN ('queued', 'running', 'applied', 'unchanged', 'dry_run', 'invalid', 'failed', 'conflict', 'resolved',
               'cancelled', 'proposed', 'approved', 'rejected', 'expired')
);
-- What somebody has to look at, or has looked at, over all memories of a vault; what updates mostly end as is not in it.
CREATE INDEX updates_review_idx ON updates (vault_id, status, update_id)
    WHERE status IN ('proposed', 'approved', 'rejected', 'expired', 'invalid', 'failed', 'conflict');

ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (
    kind IN ('version', 'update', 'handoff', 'memory_deleted', 'redacted', 'items', 'proposed', 'approved', 'rejected')
);
-- That there was a proposal is known for as long as its event is, also after its memory was deleted.
CREATE INDEX events_proposed_idx ON events (vault_id, update_id) WHERE kind = 'proposed';

ALTER TABLE api_keys DROP CONSTRAINT api_keys_role_check;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_role_check CHECK (role IN ('reader', 'proposer', 'writer', 'admin'));
