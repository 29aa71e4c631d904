DROP TABLE model_usage;
