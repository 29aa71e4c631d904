-- Sessions of people at the dashboard. A session belongs to a key and ends with it; keys belong to no vault, so sessions
-- stand under `*` as they do. What a browser holds is not stored, only its SHA-256.
CREATE TABLE sessions (
    vault_id     TEXT        NOT NULL,
    session_hash BYTEA       NOT NULL,
    key_id       TEXT        NOT NULL,
    -- Of the key as it was shown: a session ends when that secret is not taken any more, also by a rotation.
    secret_hash  BYTEA       NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (vault_id, session_hash),
    CONSTRAINT sessions_key_fkey FOREIGN KEY (vault_id, key_id) REFERENCES api_keys (vault_id, key_id)
        ON DELETE CASCADE,
    CONSTRAINT sessions_vault_check CHECK (vault_id = '*'),
    CONSTRAINT sessions_hash_check CHECK (octet_length(session_hash) = 32 AND octet_length(secret_hash) = 32),
    CONSTRAINT sessions_expires_check CHECK (expires_at > created_at)
);
-- The sessions of one key, the oldest first.
CREATE INDEX sessions_key_idx ON sessions (vault_id, key_id, created_at);
-- Those that have expired.
CREATE INDEX sessions_expires_idx ON sessions (vault_id, expires_at);
