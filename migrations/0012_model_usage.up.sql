-- What models cost, counted per vault, day and model: a row is added to with every run.
-- No foreign key and no memory: tokens stay spent when a memory is deleted, and nothing here quotes a text.
CREATE TABLE model_usage (
    vault_id           TEXT   NOT NULL,
    -- In UTC.
    day                DATE   NOT NULL,
    -- Names out of the configuration.
    model              TEXT   NOT NULL,
    role               TEXT   NOT NULL,
    -- Requests to the model's server, repeated ones included.
    calls              BIGINT NOT NULL,
    -- Runs that asked it, and those of them in which it failed.
    runs               BIGINT NOT NULL,
    failures           BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    -- Of the input tokens.
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    millis             BIGINT NOT NULL,
    CONSTRAINT model_usage_pkey PRIMARY KEY (vault_id, day, model, role),
    CONSTRAINT model_usage_counts_check CHECK (
        calls >= 0 AND runs >= 0 AND failures >= 0 AND input_tokens >= 0 AND cached_tokens >= 0
        AND cache_write_tokens >= 0 AND output_tokens >= 0 AND millis >= 0
    )
);
