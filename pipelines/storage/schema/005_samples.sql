-- shard by cityHash64(component)
-- One row per reading, as it came: counters raw, in the unit of the catalogue.
-- Rows of one insert carry one day in `stored`, so an insert is one part: it is in, or it is not.
CREATE TABLE IF NOT EXISTS samples$local $on_cluster
(
    metric     LowCardinality(String) COMMENT 'canonical name where the catalogue has one' CODEC(ZSTD),
    component  LowCardinality(String) COMMENT 'what was measured, kind/name' CODEC(ZSTD),
    attributes LowCardinality(String) COMMENT 'further identity, sorted name="value" pairs, often empty' CODEC(ZSTD),
    time       DateTime64(9, 'UTC')   COMMENT 'device time' CODEC(DoubleDelta, ZSTD),
    value      Float64                COMMENT 'finite, in the metric''s unit' CODEC(Gorilla, ZSTD),
    cell       LowCardinality(String) CODEC(ZSTD),
    source     LowCardinality(String) COMMENT 'who delivered, kind/name' CODEC(ZSTD),
    received   DateTime64(9, 'UTC')   COMMENT 'collector clock' CODEC(DoubleDelta, ZSTD),
    stored     Date                   COMMENT 'day of recording; retention counts from it, so old device times stay' CODEC(ZSTD)
)
ENGINE = ${replicated}MergeTree
PARTITION BY stored
ORDER BY (metric, component, attributes, time)
TTL stored + toIntervalDay($raw_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Readings';
