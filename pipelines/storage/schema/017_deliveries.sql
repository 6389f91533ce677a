-- shard by cityHash64(delivery_id)
-- One row per attempt to deliver a webhook.
CREATE TABLE IF NOT EXISTS deliveries$local $on_cluster
(
    delivery_id String                 COMMENT 'webhook-id: the same for every attempt',
    attempt     UInt32                 COMMENT 'from 1; 0 = given up before any',
    endpoint    LowCardinality(String) COMMENT 'its configured name',
    event_type  LowCardinality(String),
    subject_id  String                 COMMENT 'alert or decision',
    cell        LowCardinality(String),
    at          DateTime64(9, 'UTC')   COMMENT 'notifier clock',
    state       LowCardinality(String) COMMENT 'delivered, retrying, failed, disabled, superseded',
    status      UInt32                 COMMENT 'HTTP status, 0 when there was no answer',
    detail      String,
    duration_seconds Float64,
    stored      Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (delivery_id, attempt, state)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Attempts to deliver webhooks';
