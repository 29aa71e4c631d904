-- Lists of memories hold those that have prompt items and no document, too, in the order of bytes: pages of both are read
-- from an index in that order (memories_list_idx is the other one).
CREATE INDEX prompt_item_owners_list_idx ON prompt_item_owners (vault_id, memory_id COLLATE "C");
