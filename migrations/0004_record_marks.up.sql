-- What a person or an agent has set about a record, as its line has it: `pinned, until 2027-08-31`; NULL for most.
ALTER TABLE records ADD COLUMN marks TEXT;

-- Runs that find by themselves what can go. Rows from before satisfied a narrower check, so they are not read again.
ALTER TABLE updates DROP CONSTRAINT updates_kind_check;
ALTER TABLE updates ADD CONSTRAINT updates_kind_check CHECK (kind IN ('update', 'operations', 'consolidation')) NOT VALID;
