-- The constant instructions of models, once a vault: runs name them by their hash. Nothing of a memory stands in them.
--
-- updates.exchanges is a list, as it always was, or {"packed": [...]}: there the instructions are
-- {"instructions": hash}, and a text may be a list of pieces, each a string or the place of its bytes in another text of
-- the run: [which text, first byte, byte behind the last]. The texts are counted from 0: the task, the messages, then
-- of each exchange its messages and its answer.
CREATE TABLE run_instructions (
    vault_id TEXT NOT NULL,
    -- SHA-256 of the text, in hexadecimal digits.
    hash     TEXT NOT NULL,
    text     TEXT NOT NULL,
    CONSTRAINT run_instructions_pkey PRIMARY KEY (vault_id, hash)
);
