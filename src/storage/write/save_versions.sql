-- Saves versions of different memories with everything derived from them: the heads of the memories, the versions, their
-- records and the history of these, and their events. One statement, so all of a version or nothing.
-- Where the database is distributed by vault, `pieces.rs` makes statements of its common table expressions.
--
-- $1 the versions (`VersionRow`), $2 their texts, $3 their records (`ChangedRecord`), $4 the channel of notifications, $5 how
-- many versions there are: a limit leaves the planner to expect few, so that it looks up each memory by its key, where for the
-- hundred that it expects of any list of JSON it would read all memories. It stands in a subquery, so that its value changes no
-- estimate: a plan for the values of one execution never looks cheaper than the generic plan, and the statement, which takes
-- longer to plan than to save a version, is not planned each time. $6 the steps of the runs that made them (`NewEvent`).
--
-- A version is passed over if another transaction holds the row of its memory, if the head is not its base any more, or
-- if the counters are not those that it was decided by. The lock looks at the newest committed row. What the
-- statement reads besides is of before it began; since every writer moves the head, a base that is still the head means
-- that nothing of the memory has changed since.
WITH version AS (
    SELECT *
    FROM json_to_recordset($1::json) AS version (
        place bigint, vault_id text, memory_id text, base text, counted bigint[], context_id text, version bigint,
        creation_time timestamptz, counters bigint[], actor_id text, source text, bytes integer, update_id text,
        operations jsonb, log text, line_origins bigint[], event_id text, notification text
    )
    LIMIT (SELECT $5::bigint)
),
locked AS (
    SELECT version.place, memory.counters
    FROM version
    CROSS JOIN LATERAL (
        -- Absent counters are 0.
        SELECT ARRAY[
                   COALESCE(memories.counters[1], 0), COALESCE(memories.counters[2], 0),
                   COALESCE(memories.counters[3], 0), COALESCE(memories.counters[4], 0)
               ] || memories.counters[5:] AS counters
        FROM memories
        WHERE memories.vault_id = version.vault_id AND memories.memory_id = version.memory_id
          AND memories.head_context_id IS NOT DISTINCT FROM version.base AND memories.changed_at <= version.creation_time
        FOR UPDATE SKIP LOCKED
    ) AS memory
    -- Of the kinds that this program knows.
    WHERE version.counted IS NULL OR version.counted = memory.counters[1:cardinality(version.counted)]
),
moved AS (
    UPDATE memories
    SET head_version = version.version, head_context_id = version.context_id, changed_at = version.creation_time,
        -- A memory that had only prompt items begins with its first version.
        created_at = CASE WHEN version.base IS NULL THEN version.creation_time ELSE memories.created_at END,
        counters = ARRAY[
            GREATEST(locked.counters[1], version.counters[1]), GREATEST(locked.counters[2], version.counters[2]),
            GREATEST(locked.counters[3], version.counters[3]), GREATEST(locked.counters[4], version.counters[4])
        ] || locked.counters[5:]
    FROM locked
    JOIN version ON version.place = locked.place
    WHERE memories.vault_id = version.vault_id AND memories.memory_id = version.memory_id
    RETURNING memories.vault_id, version.place
),
saved AS (
    INSERT INTO memory_contexts (
        vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes, update_id,
        operations, log, line_origins
    )
    SELECT moved.vault_id, version.memory_id, version.context_id, version.actor_id,
           ($2::text[])[version.place], version.creation_time, version.version, version.source, version.bytes,
           version.update_id, version.operations, version.log, version.line_origins
    FROM moved
    JOIN version ON version.place = moved.place
),
-- What the vaults hold more: a row of its own, so that nobody waits to count.
counted AS (
    INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
    SELECT moved.vault_id, min(version.event_id), count(*) FILTER (WHERE version.base IS NULL), sum(version.bytes)
    FROM moved
    JOIN version ON version.place = moved.place
    GROUP BY moved.vault_id
    ON CONFLICT (vault_id, change_id)
    DO UPDATE SET memories = vault_storage.memories + excluded.memories, bytes = vault_storage.bytes + excluded.bytes
),
happened AS (
    INSERT INTO events (
        vault_id, event_id, memory_id, kind, created_at, version, context_id, actor_id, source, update_id, details
    )
    SELECT moved.vault_id, version.event_id, version.memory_id, 'version', version.creation_time, version.version,
           version.context_id, version.actor_id, version.source, version.update_id, NULL
    FROM moved
    JOIN version ON version.place = moved.place
    UNION ALL
    SELECT moved.vault_id, step.event_id, version.memory_id, step.kind, step.created_at, NULL, NULL, step.actor_id, NULL,
           step.update_id, step.details
    FROM json_to_recordset($6::json) AS step (
        place bigint, event_id text, kind text, created_at timestamptz, actor_id text, update_id text, details jsonb
    )
    JOIN moved ON moved.place = step.place
    JOIN version ON version.place = step.place
    -- By time and id, which is the order in which they happened: `insert_order` keeps it.
    ORDER BY 5, 2
    ON CONFLICT (vault_id, event_id) DO NOTHING
),
record AS (
    SELECT moved.vault_id, version.memory_id, version.version, version.creation_time AS time, version.actor_id, record.*,
           CASE WHEN record.status = 'archived' THEN version.version END AS ended_version,
           CASE WHEN record.status = 'archived' THEN version.creation_time END AS ended_at,
           CASE WHEN record.status = 'archived' THEN version.actor_id END AS ended_by
    FROM json_to_recordset($3::json) AS record (
        place bigint, kind text, number bigint, status text, change text, label text, reason text, content text,
        archive_reason text, superseded_by text, written_at timestamptz, marks text, task_id text, intent text, summary text,
        outcome jsonb, epic text, details jsonb
    )
    JOIN moved ON moved.place = record.place
    JOIN version ON version.place = record.place
),
-- An added record that had a row before is one that was archived: it is restored. Its birth stays.
changed AS (
    INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
    SELECT record.vault_id, record.memory_id, record.kind, record.number, record.version,
           CASE WHEN record.change = 'added' AND EXISTS (
                         SELECT
                         FROM records AS before
                         WHERE before.vault_id = record.vault_id AND before.memory_id = record.memory_id
                           AND before.kind = record.kind AND before.number = record.number
                     )
                THEN 'restored'
                ELSE record.change
           END,
           record.time, record.actor_id
    FROM record
    WHERE record.change IS NOT NULL
),
-- What is known of a task and not said again stays.
kept AS (
    INSERT INTO records (
        vault_id, memory_id, kind, number, status, label, reason, content, created_version, created_at, created_by,
        ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, marks, task_id, intent, summary,
        outcome, epic, details
    )
    SELECT vault_id, memory_id, kind, number, status, label, reason, content, version, time, actor_id,
           ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, marks, task_id, intent, summary,
           outcome, epic, details
    FROM record
    ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
    SET status = excluded.status, label = excluded.label, reason = excluded.reason, content = excluded.content,
        ended_version = excluded.ended_version, ended_at = excluded.ended_at, ended_by = excluded.ended_by,
        archive_reason = excluded.archive_reason, superseded_by = excluded.superseded_by,
        written_at = excluded.written_at, marks = excluded.marks, task_id = COALESCE(excluded.task_id, records.task_id),
        intent = COALESCE(excluded.intent, records.intent), summary = COALESCE(excluded.summary, records.summary),
        outcome = COALESCE(excluded.outcome, records.outcome), epic = COALESCE(excluded.epic, records.epic),
        details = COALESCE(excluded.details, records.details)
)
SELECT version.place AS "place!", pg_notify($4, version.notification)::text AS notified
FROM moved
JOIN version ON version.place = moved.place
