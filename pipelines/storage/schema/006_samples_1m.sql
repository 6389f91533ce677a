-- shard by cityHash64(component)
-- Roll-up of samples by series and minute of device time; view `minutes` reads it finished.
CREATE TABLE IF NOT EXISTS samples_1m$local $on_cluster
(
    metric     LowCardinality(String),
    component  LowCardinality(String) COMMENT 'kind/name',
    attributes LowCardinality(String),
    minute     DateTime('UTC')        COMMENT 'start of the minute, device time' CODEC(DoubleDelta, ZSTD),
    stored     Date                   COMMENT 'day of recording; a minute may have a row for each of two',
    cell       SimpleAggregateFunction(anyLast, LowCardinality(String)),
    samples    SimpleAggregateFunction(sum, UInt64),
    least      SimpleAggregateFunction(min, Float64),
    most       SimpleAggregateFunction(max, Float64),
    total      SimpleAggregateFunction(sum, Float64) COMMENT 'sum of values; over samples it is the mean',
    last       AggregateFunction(argMax, Float64, DateTime64(9, 'UTC'))
)
ENGINE = ${replicated}AggregatingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (metric, component, attributes, minute, stored)
TTL stored + toIntervalDay($minute_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Readings by minute';

CREATE MATERIALIZED VIEW IF NOT EXISTS samples_1m_feed $on_cluster TO samples_1m$local AS
SELECT
    metric,
    component,
    attributes,
    toStartOfMinute(time) AS minute,
    stored,
    anyLast(samples$local.cell) AS cell,
    count() AS samples,
    min(value) AS least,
    max(value) AS most,
    sum(value) AS total,
    argMaxState(value, time) AS last
FROM samples$local
GROUP BY metric, component, attributes, minute, stored;

CREATE VIEW IF NOT EXISTS minutes $on_cluster
(
    cell String, component String, metric String, attributes String, minute DateTime('UTC'),
    samples UInt64, least Float64, most Float64, mean Float64, last Float64
) AS
SELECT
    anyLast(s.cell) AS cell,
    s.component,
    s.metric,
    s.attributes,
    s.minute,
    sum(s.samples) AS samples,
    min(s.least) AS least,
    max(s.most) AS most,
    sum(s.total) / sum(s.samples) AS mean,
    argMaxMerge(s.last) AS last
FROM samples_1m AS s
GROUP BY s.component, s.metric, s.attributes, s.minute;
