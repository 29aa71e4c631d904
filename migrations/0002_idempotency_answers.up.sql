-- The transaction that saves what a request does keeps its answer too, so nothing has to be remembered to build it from.
ALTER TABLE idempotency_keys
    DROP CONSTRAINT idempotency_keys_saved_check,
    DROP COLUMN saved_kind,
    DROP COLUMN saved_id;
