DROP TABLE handoffs;
DROP TABLE record_changes;
