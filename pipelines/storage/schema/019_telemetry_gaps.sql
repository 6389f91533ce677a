-- Frames that a collector sent and Kafka never had: holes in the sequence of a collector and
-- source, the ones before its first frame included.
CREATE VIEW IF NOT EXISTS telemetry_gaps $on_cluster AS
SELECT collector, source, cell, first_missing, last_missing,
       last_missing - first_missing + 1 AS frames, noticed
FROM
(
    SELECT
        collector, source, cell,
        lagInFrame(sequence, 1, sequence) OVER w + 1 AS first_missing,
        toInt64(sequence) - 1 AS last_missing,
        received AS noticed
    FROM (SELECT DISTINCT collector, source, cell, sequence, received FROM frames WHERE sequence > 0)
    WINDOW w AS (PARTITION BY collector, source ORDER BY sequence
                 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
    UNION ALL
    SELECT
        s.collector, s.source, anyLast(s.cell) AS cell,
        toUInt64(1) AS first_missing,
        toInt64(min(s.first_sequence)) - 1 AS last_missing,
        min(s.first_received) AS noticed
    FROM sources AS s
    GROUP BY s.collector, s.source
    HAVING min(s.first_sequence) > 0
)
WHERE last_missing >= first_missing;
