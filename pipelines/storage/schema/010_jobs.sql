-- shard by cityHash64(job_id)
-- One row per time a job joined, changed what it announced, or left.
CREATE TABLE IF NOT EXISTS jobs$local $on_cluster
(
    job_id    String,
    cell      LowCardinality(String),
    event     LowCardinality(String) COMMENT 'joined, changed, left',
    at        DateTime64(9, 'UTC')   COMMENT 'collector clock',
    kind      LowCardinality(String) COMMENT 'training, inference',
    priority  UInt32                 COMMENT 'larger = more important',
    gpus      Array(String)          COMMENT 'by rank, component',
    nics      Array(String)          COMMENT 'by rank, component',
    collectives Array(String)        COMMENT 'kind of each, in order',
    period_seconds Array(Float64)    COMMENT 'of each collective',
    message   String                 COMMENT 'trimtab.v1.JobEvent' CODEC(ZSTD(3)),
    stored    Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (job_id, at, event)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'What jobs announced';
