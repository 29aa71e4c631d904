DROP TABLE records;
DROP TABLE memory_contexts;
DROP TABLE memories;
