-- What LZ4 has compressed stays readable.
ALTER TABLE memory_contexts
    ALTER COLUMN context SET COMPRESSION default,
    ALTER COLUMN operations SET COMPRESSION default,
    ALTER COLUMN log SET COMPRESSION default;
ALTER TABLE updates
    ALTER COLUMN request SET COMPRESSION default,
    ALTER COLUMN exchanges SET COMPRESSION default,
    ALTER COLUMN outcome SET COMPRESSION default;
