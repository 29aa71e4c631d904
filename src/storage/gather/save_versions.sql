-- Saves versions of different memories with everything that comes with them, in one statement, so in one transaction.
--
-- Passed over is a memory whose row somebody holds, whose newest version is not the base any more, or whose counters
-- are not those the version was decided by. A row that was changed since the statement began is looked at again when
-- it is locked: what is compared is the newest version of all that are committed.
--
-- The first list of each unnest is selected, which changes nothing but hides its length from the planner: it would
-- plan short ones anew every time, which takes longer than to save them.
WITH new AS (
    SELECT *
    FROM unnest(
             (SELECT $1::text[]), $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[],
             $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
             $12::text[], $13::text[], $14::text[], $15::integer[], $16::text[], $17::text[], $18::text[],
             $19::text[], $20::bigint[], $21::text[],
             $22::text[], $23::text[], $24::text[], $25::timestamptz[], $26::timestamptz[], $27::text[], $28::text[],
             $29::text[]
         )
         WITH ORDINALITY
         AS new (
             vault_id, memory_id, base, counted, context_id, version, time,
             learning, verbatim, task, decision,
             actor_id, context, source, bytes, log, operations, line_origins,
             event_id, told_in, line,
             update_id, run_kind, run_status, run_begun, run_ended, run_request, run_exchanges,
             run_outcome, place
         )
),
locked AS (
    SELECT new.place
    FROM new
    CROSS JOIN LATERAL (
        SELECT
        FROM memories
        WHERE memories.vault_id = new.vault_id AND memories.memory_id = new.memory_id
          AND memories.head_context_id = new.base AND memories.changed_at <= new.time
          AND (new.counted IS NULL OR new.counted::bigint[] = ARRAY[
                  memories.learning_counter, memories.verbatim_counter, memories.task_counter,
                  memories.decision_counter
              ])
        FOR UPDATE SKIP LOCKED
    ) AS memory
),
moved AS (
    UPDATE memories
    SET head_version = new.version, head_context_id = new.context_id, changed_at = new.time,
        learning_counter = GREATEST(memories.learning_counter, new.learning),
        verbatim_counter = GREATEST(memories.verbatim_counter, new.verbatim),
        task_counter = GREATEST(memories.task_counter, new.task),
        decision_counter = GREATEST(memories.decision_counter, new.decision)
    FROM locked
    JOIN new ON new.place = locked.place
    WHERE memories.vault_id = new.vault_id AND memories.memory_id = new.memory_id
    RETURNING new.place
),
saved AS (
    INSERT INTO memory_contexts (
        vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes, update_id,
        operations, log, line_origins
    )
    SELECT new.vault_id, new.memory_id, new.context_id, new.actor_id, new.context, new.time, new.version, new.source,
           new.bytes, new.update_id, new.operations::jsonb, new.log, new.line_origins::bigint[]
    FROM moved
    JOIN new ON new.place = moved.place
),
-- The run that made a version captured the one before.
ended AS (
    INSERT INTO updates (
        vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, base_version, version,
        context_id, request, exchanges, outcome
    )
    SELECT new.vault_id, new.memory_id, new.update_id, new.run_kind, new.run_status, new.actor_id, new.run_begun,
           new.run_ended, new.version - 1, new.version, new.context_id, new.run_request::jsonb,
           new.run_exchanges::jsonb, new.run_outcome::jsonb
    FROM moved
    JOIN new ON new.place = moved.place
    WHERE new.update_id IS NOT NULL
),
-- The versions, and the steps of their runs.
happened AS (
    INSERT INTO events (
        vault_id, event_id, memory_id, kind, created_at, version, context_id, actor_id, source, update_id, details
    )
    SELECT new.vault_id, new.event_id, new.memory_id, 'version', new.time, new.version, new.context_id, new.actor_id,
           new.source, new.update_id, NULL
    FROM moved
    JOIN new ON new.place = moved.place
    UNION ALL
    SELECT new.vault_id, step.event_id, new.memory_id, 'update', step.time, NULL, NULL, new.actor_id,
           NULL, new.update_id, step.details::jsonb
    FROM moved
    JOIN new ON new.place = moved.place
    JOIN unnest((SELECT $30::bigint[]), $31::text[], $32::timestamptz[], $33::text[])
         AS step (place, event_id, time, details) ON step.place = moved.place
    ON CONFLICT (vault_id, event_id) DO NOTHING
),
touched AS (
    SELECT new.vault_id, new.memory_id, new.version, new.time, new.actor_id, record.*
    FROM unnest(
             (SELECT $34::bigint[]), $35::text[], $36::bigint[], $37::text[], $38::text[], $39::text[], $40::text[],
             $41::timestamptz[]
         )
         AS record (place, kind, number, change, label, reason, content, written_at)
    JOIN moved ON moved.place = record.place
    JOIN new ON new.place = record.place
),
present AS (
    INSERT INTO records (
        vault_id, memory_id, kind, number, status, label, reason, content, created_version, created_at, created_by,
        written_at
    )
    SELECT vault_id, memory_id, kind, number, 'active', label, reason, content, version, time, actor_id, written_at
    FROM touched
    WHERE change <> 'archived'
    ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
    SET label = excluded.label, reason = excluded.reason, content = excluded.content,
        written_at = excluded.written_at
),
archived AS (
    UPDATE records
    SET status = 'archived', ended_version = touched.version, ended_at = touched.time, ended_by = touched.actor_id,
        archive_reason = touched.reason
    FROM touched
    WHERE touched.change = 'archived'
      AND records.vault_id = touched.vault_id AND records.memory_id = touched.memory_id
      AND records.kind = touched.kind AND records.number = touched.number
    RETURNING touched.place
),
changed AS (
    INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
    SELECT vault_id, memory_id, kind, number, version, change, time, actor_id
    FROM touched
)
-- A record that is to be archived is there; if it is not, dividing by zero undoes all of it.
SELECT array_agg(new.place) AS "places!", pg_notify($42, string_agg(new.line, E'\n'))::text AS told,
       1 / ((SELECT count(*) FROM archived) = (SELECT count(*) FROM touched WHERE change = 'archived'))::integer
           AS whole
FROM moved
JOIN new ON new.place = moved.place
GROUP BY new.told_in
