-- Every run gets back what it was shown of its version. The texts of the run keep their numbers.
CREATE FUNCTION pg_temp.with_version(said JSONB, version TEXT) RETURNS JSONB LANGUAGE sql AS $$
    SELECT CASE jsonb_typeof(said)
        WHEN 'array' THEN (
            SELECT jsonb_agg(
                CASE WHEN jsonb_typeof(piece) <> 'array' OR (piece ->> 0)::integer >= 0 THEN piece
                     -- As long as it was: other texts of the run name places behind it.
                     WHEN version IS NULL THEN to_jsonb(
                              rpad('[of a version that is not kept any more]', (piece ->> 2)::integer - (piece ->> 1)::integer))
                     ELSE to_jsonb(convert_from(
                              substring(convert_to(version, 'UTF8')
                                        FROM (piece ->> 1)::integer + 1
                                        FOR (piece ->> 2)::integer - (piece ->> 1)::integer),
                              'UTF8'))
                END ORDER BY place)
            FROM jsonb_array_elements(said) WITH ORDINALITY AS pieces (piece, place)
        )
        ELSE said
    END
$$;

DO $$
DECLARE
    run RECORD;
    entry JSONB;
    turn JSONB;
    turns JSONB;
    entries JSONB;
    shown TEXT;
BEGIN
    FOR run IN
        SELECT vault_id, memory_id, update_id, exchanges FROM updates WHERE exchanges ? 'base'
    LOOP
        SELECT context INTO shown FROM memory_contexts
        WHERE vault_id = run.vault_id AND memory_id = run.memory_id
          AND version = (run.exchanges ->> 'base')::bigint AND redacted_at IS NULL;
        entries := '[]';
        FOR entry IN SELECT * FROM jsonb_array_elements(run.exchanges -> 'packed') LOOP
            IF jsonb_typeof(entry -> 'messages') = 'array' THEN
                turns := '[]';
                FOR turn IN SELECT * FROM jsonb_array_elements(entry -> 'messages') LOOP
                    IF turn ? 'content' THEN
                        turn := jsonb_set(turn, '{content}', pg_temp.with_version(turn -> 'content', shown));
                    END IF;
                    turns := turns || jsonb_build_array(turn);
                END LOOP;
                entry := jsonb_set(entry, '{messages}', turns);
            END IF;
            IF entry ? 'answer' THEN
                entry := jsonb_set(entry, '{answer}', pg_temp.with_version(entry -> 'answer', shown));
            END IF;
            entries := entries || jsonb_build_array(entry);
        END LOOP;
        UPDATE updates SET exchanges = jsonb_build_object('packed', entries)
        WHERE vault_id = run.vault_id AND memory_id = run.memory_id AND update_id = run.update_id;
    END LOOP;
END
$$;

DROP FUNCTION pg_temp.with_version(JSONB, TEXT);
COMMENT ON COLUMN updates.exchanges IS NULL;
