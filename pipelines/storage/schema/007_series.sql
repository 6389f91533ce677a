-- shard by cityHash64(component)
-- Every series ever seen; kept as long as the roll-up.
CREATE TABLE IF NOT EXISTS series$local $on_cluster
(
    component  LowCardinality(String) COMMENT 'kind/name',
    metric     LowCardinality(String),
    attributes LowCardinality(String),
    source     LowCardinality(String),
    cell       SimpleAggregateFunction(anyLast, LowCardinality(String)),
    first_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) COMMENT 'device time',
    last_time  SimpleAggregateFunction(max, DateTime64(9, 'UTC')) COMMENT 'device time',
    samples    SimpleAggregateFunction(sum, UInt64),
    last_stored SimpleAggregateFunction(max, Date)
)
ENGINE = ${replicated}AggregatingMergeTree
ORDER BY (component, metric, attributes, source)
TTL last_stored + toIntervalDay($minute_days)
SETTINGS $deduplication
COMMENT 'Series seen; aggregate on reading';

CREATE MATERIALIZED VIEW IF NOT EXISTS series_feed $on_cluster TO series$local AS
SELECT
    component,
    metric,
    attributes,
    source,
    anyLast(samples$local.cell) AS cell,
    min(time) AS first_time,
    max(time) AS last_time,
    count() AS samples,
    max(stored) AS last_stored
FROM samples$local
GROUP BY component, metric, attributes, source;
