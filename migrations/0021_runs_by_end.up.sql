-- Runs that ended long ago are found without reading the others, where retention.runs_max_age is set.
CREATE INDEX updates_finished_idx ON updates (vault_id, finished_at) WHERE finished_at IS NOT NULL;
