-- shard by cityHash64(letter_id)
-- What could not be processed: refused by a collector, or met on a topic.
CREATE TABLE IF NOT EXISTS dead_letters$local $on_cluster
(
    letter_id String,
    reason    LowCardinality(String) COMMENT 'short code',
    detail    String,
    source    LowCardinality(String) COMMENT 'target, or topic, that it came from',
    cell      LowCardinality(String),
    topic     LowCardinality(String) COMMENT 'empty when it never reached Kafka',
    partition Int32,
    offset    Int64,
    at        DateTime64(9, 'UTC')   COMMENT 'clock of whoever refused it',
    samples   UInt64                 COMMENT 'readings refused with it',
    payload   String                 COMMENT 'the first 64 KiB of what came' CODEC(ZSTD(3)),
    stored    Date                   COMMENT 'day of recording; retention counts from it',
    INDEX by_id letter_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (reason, letter_id)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'What could not be processed, and why';
