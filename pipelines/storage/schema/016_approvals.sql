-- shard by cityHash64(decision_id)
CREATE TABLE IF NOT EXISTS approvals$local $on_cluster
(
    request_id  String,
    decision_id String,
    cell        LowCardinality(String),
    verb        LowCardinality(String) COMMENT 'approve, reject, revert',
    who         String,
    why         String,
    at          DateTime64(9, 'UTC')   COMMENT 'clock of the machine it was asked on',
    stored      Date                   COMMENT 'day of recording; retention counts from it',
    INDEX by_id request_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (decision_id, request_id)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'What people asked about decisions';
