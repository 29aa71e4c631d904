DROP TABLE prompt_items, prompt_item_owners;
