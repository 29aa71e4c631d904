DROP TABLE vault_storage;
