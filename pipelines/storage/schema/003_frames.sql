-- shard by cityHash64(collector, source)
-- Ledger of the frames that were recorded: sum(samples) equals count() of samples, and a hole in
-- the sequence of a collector and source is a loss before Kafka (view telemetry_gaps).
CREATE TABLE IF NOT EXISTS frames$local $on_cluster
(
    collector  LowCardinality(String)  COMMENT 'one run of one collector',
    source     LowCardinality(String)  COMMENT 'who delivered, kind/name',
    cell       LowCardinality(String),
    sequence   UInt64                  COMMENT 'counts the frames of collector and source from 1; 0 = not counted' CODEC(Delta, ZSTD),
    samples    UInt32                  COMMENT 'readings stored' CODEC(T64, ZSTD),
    first_time DateTime64(9, 'UTC')    COMMENT 'oldest device time' CODEC(Delta, ZSTD),
    last_time  DateTime64(9, 'UTC')    COMMENT 'newest device time' CODEC(Delta, ZSTD),
    received   DateTime64(9, 'UTC')    COMMENT 'collector clock' CODEC(Delta, ZSTD),
    topic      LowCardinality(String),
    partition  Int32,
    offset     Int64 CODEC(Delta, ZSTD),
    stored     Date                    COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}MergeTree
PARTITION BY stored
ORDER BY (collector, source, sequence)
TTL stored + toIntervalDay($raw_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Frames recorded';
