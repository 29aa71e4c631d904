-- How many memories a vault has, and how many bytes the texts of their versions have: the sum of its rows. Each
-- transaction that makes or takes away some adds a row of its own, so that no writer ever waits for another one to count;
-- the service sums up what has gathered.
CREATE TABLE vault_storage (
    vault_id  TEXT   NOT NULL,
    change_id TEXT   NOT NULL,
    memories  BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    CONSTRAINT vault_storage_pkey PRIMARY KEY (vault_id, change_id)
);

-- What there is. A text that was taken out takes no room.
INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
SELECT vault_id, 'before', count(DISTINCT memory_id), COALESCE(sum(bytes) FILTER (WHERE redacted_at IS NULL), 0)
FROM memory_contexts
GROUP BY vault_id;
