-- What roles were shown of the memory stands in the version that the run captured, and is not kept again with the run.
--
-- updates.exchanges may be {"packed": [...], "base": version}: a piece of a text is then also [-1, first byte, byte behind
-- the last], of the text of that version. Where the version is gone, so is what was shown of it.
COMMENT ON COLUMN updates.exchanges IS
    'a list, or {"packed": [...], "base": version}: see the migrations 0020 and 0022';
