-- Who has prompt items: a memory, or, with '' for memory_id, the vault itself, whose items belong to all of its
-- memories. Writers of items lock this row. It refers to no memory: items may come before the first document.
CREATE TABLE prompt_item_owners (
    vault_id   TEXT        NOT NULL,
    memory_id  TEXT        NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT prompt_item_owners_pkey PRIMARY KEY (vault_id, memory_id)
);

-- Parts of system prompts that components own. An item never changes: it is added and removed.
CREATE TABLE prompt_items (
    vault_id   TEXT             NOT NULL,
    memory_id  TEXT             NOT NULL,
    item_id    TEXT COLLATE "C" NOT NULL,
    category   TEXT COLLATE "C" NOT NULL,
    content    TEXT             NOT NULL,
    metadata   JSONB            NOT NULL,
    -- From then on it is never shown; null for one that stays.
    expires_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ      NOT NULL,
    created_by TEXT             NOT NULL,
    CONSTRAINT prompt_items_pkey PRIMARY KEY (vault_id, memory_id, item_id),
    CONSTRAINT prompt_items_owner_fkey FOREIGN KEY (vault_id, memory_id)
        REFERENCES prompt_item_owners (vault_id, memory_id) ON DELETE CASCADE,
    CONSTRAINT prompt_items_content_check CHECK (content <> ''),
    CONSTRAINT prompt_items_metadata_check CHECK (jsonb_typeof(metadata) = 'object')
);
-- The order in which items are listed and assembled.
CREATE INDEX prompt_items_order_idx ON prompt_items (vault_id, memory_id, category, created_at, item_id);
-- What the purge looks for, over all vaults.
CREATE INDEX prompt_items_expires_idx ON prompt_items (expires_at) WHERE expires_at IS NOT NULL;
