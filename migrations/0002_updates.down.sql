DROP TABLE updates;
