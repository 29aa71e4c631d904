-- Long texts are compressed by LZ4, which takes a fraction of the time of PostgreSQL's own method and a little more
-- room. Rows that are there stay as they are; both can be read whatever the setting. A server built without LZ4
-- keeps its method.
DO $$
BEGIN
    ALTER TABLE memory_contexts
        ALTER COLUMN context SET COMPRESSION lz4,
        ALTER COLUMN operations SET COMPRESSION lz4,
        ALTER COLUMN log SET COMPRESSION lz4;
    ALTER TABLE updates
        ALTER COLUMN request SET COMPRESSION lz4,
        ALTER COLUMN exchanges SET COMPRESSION lz4,
        ALTER COLUMN outcome SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported THEN
        RAISE NOTICE 'This server does not know LZ4: texts are compressed by its own method.';
END
$$;
