-- API keys. A key may reach many vaults, so it belongs to none of them: keys stand under `*`, which no vault's id
-- can be, and distribute with it. Rows are never deleted by the service: that there ever was a key is what keeps a
-- service from answering everybody again when the last one has ended.
CREATE TABLE api_keys (
    vault_id          TEXT        NOT NULL,
    -- Stands in front of the secret in what the holder shows.
    key_id            TEXT        NOT NULL,
    -- The actor of what its holder writes.
    name              TEXT        NOT NULL,
    role              TEXT        NOT NULL,
    -- The vaults it reaches: these, or those that begin so, or all if neither is there.
    vaults            TEXT[],
    vault_prefix      TEXT,
    speaks_for_others BOOLEAN     NOT NULL,
    -- SHA-256 of what the holder shows, and of what was shown before a rotation, while that is still taken.
    secret_hash       BYTEA       NOT NULL,
    previous_hash     BYTEA,
    previous_until    TIMESTAMPTZ,
    created_by        TEXT        NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    rotated_at        TIMESTAMPTZ,
    expires_at        TIMESTAMPTZ,
    revoked_at        TIMESTAMPTZ,
    CONSTRAINT api_keys_pkey PRIMARY KEY (vault_id, key_id),
    CONSTRAINT api_keys_vault_check CHECK (vault_id = '*'),
    CONSTRAINT api_keys_role_check CHECK (role IN ('reader', 'writer', 'admin')),
    CONSTRAINT api_keys_scope_check CHECK (
        (vaults IS NULL OR vault_prefix IS NULL) AND (vaults IS NULL OR cardinality(vaults) >= 1)
        AND (vault_prefix IS NULL OR vault_prefix <> '')
    ),
    CONSTRAINT api_keys_secret_check CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT api_keys_previous_check CHECK (
        (previous_hash IS NULL AND previous_until IS NULL)
        OR (octet_length(previous_hash) = 32 AND previous_until IS NOT NULL)
    ),
    CONSTRAINT api_keys_expires_check CHECK (expires_at > created_at)
);
