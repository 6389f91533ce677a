-- shard by cityHash64(component)
-- Roll-up of samples by series and hour of device time; view `hours` reads it finished.
CREATE TABLE IF NOT EXISTS samples_1h$local $on_cluster
(
    metric     LowCardinality(String),
    component  LowCardinality(String) COMMENT 'kind/name',
    attributes LowCardinality(String),
    hour      DateTime('UTC')        COMMENT 'start of the hour, device time' CODEC(DoubleDelta, ZSTD),
    stored     Date                   COMMENT 'day of recording; an hour may have a row for each of two',
    cell       SimpleAggregateFunction(anyLast, LowCardinality(String)),
    samples    SimpleAggregateFunction(sum, UInt64),
    least      SimpleAggregateFunction(min, Float64),
    most       SimpleAggregateFunction(max, Float64),
    total      SimpleAggregateFunction(sum, Float64) COMMENT 'sum of values; over samples it is the mean',
    last       AggregateFunction(argMax, Float64, DateTime64(9, 'UTC'))
)
ENGINE = ${replicated}AggregatingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (metric, component, attributes, hour, stored)
TTL stored + toIntervalDay($hour_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Readings by hour';

CREATE MATERIALIZED VIEW IF NOT EXISTS samples_1h_feed $on_cluster TO samples_1h$local AS
SELECT
    metric,
    component,
    attributes,
    toStartOfHour(time) AS hour,
    stored,
    anyLast(samples$local.cell) AS cell,
    count() AS samples,
    min(value) AS least,
    max(value) AS most,
    sum(value) AS total,
    argMaxState(value, time) AS last
FROM samples$local
GROUP BY metric, component, attributes, hour, stored;

CREATE VIEW IF NOT EXISTS hours $on_cluster
(
    cell String, component String, metric String, attributes String, hour DateTime('UTC'),
    samples UInt64, least Float64, most Float64, mean Float64, last Float64
) AS
SELECT
    anyLast(s.cell) AS cell,
    s.component,
    s.metric,
    s.attributes,
    s.hour,
    sum(s.samples) AS samples,
    min(s.least) AS least,
    max(s.most) AS most,
    sum(s.total) / sum(s.samples) AS mean,
    argMaxMerge(s.last) AS last
FROM samples_1h AS s
GROUP BY s.component, s.metric, s.attributes, s.hour;
