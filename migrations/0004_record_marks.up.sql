-- What a person or an agent has set about a record, as its line has it: `pinned, until 2027-08-31`; NULL for most.
ALTER TABLE records ADD COLUMN marks TEXT;
