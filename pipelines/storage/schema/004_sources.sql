-- shard by cityHash64(collector, source)
-- What delivers, by collector run; outlives the ledger, so that a loss of a run's first frames
-- can be told from frames that were only forgotten.
CREATE TABLE IF NOT EXISTS sources$local $on_cluster
(
    source         LowCardinality(String),
    collector      LowCardinality(String),
    cell           SimpleAggregateFunction(anyLast, LowCardinality(String)),
    first_sequence SimpleAggregateFunction(min, UInt64),
    last_sequence  SimpleAggregateFunction(max, UInt64),
    frames         SimpleAggregateFunction(sum, UInt64),
    samples        SimpleAggregateFunction(sum, UInt64),
    first_received SimpleAggregateFunction(min, DateTime64(9, 'UTC')) COMMENT 'collector clock',
    last_received  SimpleAggregateFunction(max, DateTime64(9, 'UTC')) COMMENT 'collector clock',
    last_stored    SimpleAggregateFunction(max, Date)
)
ENGINE = ${replicated}AggregatingMergeTree
ORDER BY (source, collector)
TTL last_stored + toIntervalDay($audit_days)
SETTINGS $deduplication
COMMENT 'Who delivered how much; aggregate on reading';

CREATE MATERIALIZED VIEW IF NOT EXISTS sources_feed $on_cluster TO sources$local AS
SELECT
    source,
    collector,
    anyLast(frames$local.cell) AS cell,
    min(frames$local.sequence) AS first_sequence,
    max(frames$local.sequence) AS last_sequence,
    count() AS frames,
    sum(frames$local.samples) AS samples,
    min(received) AS first_received,
    max(received) AS last_received,
    max(stored) AS last_stored
FROM frames$local
GROUP BY source, collector;
