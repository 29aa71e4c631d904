-- Every run gets its texts back as they were said.
CREATE FUNCTION pg_temp.text_of(packed JSONB, sources TEXT[]) RETURNS TEXT LANGUAGE sql AS $$
    SELECT string_agg(
        CASE jsonb_typeof(piece)
            WHEN 'string' THEN piece #>> '{}'
            ELSE convert_from(
                substring(convert_to(sources[(piece ->> 0)::integer + 1], 'UTF8')
                          FROM (piece ->> 1)::integer + 1 FOR (piece ->> 2)::integer - (piece ->> 1)::integer),
                'UTF8')
        END, '' ORDER BY place)
    FROM jsonb_array_elements(packed) WITH ORDINALITY AS pieces (piece, place)
$$;

DO $$
DECLARE
    run RECORD;
    entry JSONB;
    turn JSONB;
    turns JSONB;
    entries JSONB;
    sources TEXT[];
    said TEXT;
BEGIN
    FOR run IN
        SELECT vault_id, memory_id, update_id, request, exchanges FROM updates WHERE exchanges ? 'packed'
    LOOP
        sources := ARRAY[COALESCE(run.request ->> 'task', '')];
        IF jsonb_typeof(run.request -> 'messages') = 'array' THEN
            FOR turn IN SELECT * FROM jsonb_array_elements(run.request -> 'messages') LOOP
                sources := sources || COALESCE(turn ->> 'content', '');
            END LOOP;
        END IF;
        entries := '[]';
        FOR entry IN SELECT * FROM jsonb_array_elements(run.exchanges -> 'packed') LOOP
            IF jsonb_typeof(entry -> 'messages') = 'array' THEN
                turns := '[]';
                FOR turn IN SELECT * FROM jsonb_array_elements(entry -> 'messages') LOOP
                    IF jsonb_typeof(turn -> 'content') = 'array' THEN
                        turn := jsonb_set(turn, '{content}', to_jsonb(pg_temp.text_of(turn -> 'content', sources)));
                    END IF;
                    sources := sources || COALESCE(turn ->> 'content', '');
                    turns := turns || jsonb_build_array(turn);
                END LOOP;
                entry := jsonb_set(entry, '{messages}', turns);
            END IF;
            IF jsonb_typeof(entry -> 'answer') = 'array' THEN
                entry := jsonb_set(entry, '{answer}', to_jsonb(pg_temp.text_of(entry -> 'answer', sources)));
            END IF;
            sources := sources || COALESCE(entry ->> 'answer', '');
            IF jsonb_typeof(entry -> 'system') = 'object' THEN
                SELECT text INTO said FROM run_instructions
                WHERE vault_id = run.vault_id AND hash = entry #>> '{system,instructions}';
                entry := jsonb_set(entry, '{system}', COALESCE(to_jsonb(said), 'null'));
            END IF;
            entries := entries || jsonb_build_array(entry);
        END LOOP;
        UPDATE updates SET exchanges = entries
        WHERE vault_id = run.vault_id AND memory_id = run.memory_id AND update_id = run.update_id;
    END LOOP;
END
$$;

DROP FUNCTION pg_temp.text_of(JSONB, TEXT[]);
DROP TABLE run_instructions;
