UPDATE updates SET kind = 'operations' WHERE kind = 'consolidation';
ALTER TABLE updates DROP CONSTRAINT updates_kind_check;
ALTER TABLE updates ADD CONSTRAINT updates_kind_check CHECK (kind IN ('update', 'operations')) NOT VALID;
ALTER TABLE records DROP COLUMN marks;
