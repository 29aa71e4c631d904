-- First answers of requests that carry an Idempotency-Key, kept to be given again.
CREATE TABLE idempotency_keys (
    vault_id        TEXT        NOT NULL,
    -- Who asks: two callers may choose the same key.
    caller          TEXT        NOT NULL,
    idempotency_key TEXT        NOT NULL,
    -- The memory it went to: what is kept of it goes with that.
    memory_id       TEXT,
    -- SHA-256 of the request, to tell a retry from another request.
    fingerprint     BYTEA       NOT NULL,
    status          TEXT        NOT NULL,
    -- Which running request holds the key, and until when nobody takes it for dead.
    claim_id        TEXT        NOT NULL,
    lease_until     TIMESTAMPTZ,
    created_at      TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    answer_status   INTEGER,
    answer_headers  JSONB,
    answer_body     BYTEA,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (vault_id, caller, idempotency_key),
    CONSTRAINT idempotency_keys_key_check CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_fingerprint_check CHECK (octet_length(fingerprint) = 32),
    CONSTRAINT idempotency_keys_expires_check CHECK (expires_at > created_at),
    CONSTRAINT idempotency_keys_status_check CHECK (
        (status = 'running' AND lease_until IS NOT NULL AND answer_status IS NULL AND answer_headers IS NULL
            AND answer_body IS NULL)
        OR (status = 'done' AND lease_until IS NULL AND answer_status IS NOT NULL AND answer_headers IS NOT NULL
            AND answer_body IS NOT NULL)
    )
);
-- What the purge looks for, over all vaults.
CREATE INDEX idempotency_keys_expires_idx ON idempotency_keys (expires_at);
