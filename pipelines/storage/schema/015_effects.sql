-- shard by cityHash64(decision_id)
-- One row per event of a decision that tells an effect; the newest is the verdict.
CREATE TABLE IF NOT EXISTS effects$local $on_cluster
(
    decision_id String,
    sequence    UInt32                 COMMENT 'of the decision''s event',
    event_hash  String                 COMMENT 'of the decision''s event',
    action_id   String,
    alert_id    String,
    cell        LowCardinality(String),
    at          DateTime64(9, 'UTC')   COMMENT 'clock of the act worker',
    event       LowCardinality(String),
    component   LowCardinality(String) COMMENT 'whose objective: job/..., service/...',
    metric      LowCardinality(String),
    better      LowCardinality(String) COMMENT 'lower, higher',
    healthy     Float64                COMMENT 'level before the degradation, nan when unknown',
    before      Float64                COMMENT 'level before the action',
    after       Float64                COMMENT 'level after it',
    gain_low_ratio  Float64            COMMENT 'interval of the relative gain, positive = better',
    gain_high_ratio Float64,
    samples     UInt32                 COMMENT 'readings after the action',
    verdict     LowCardinality(String) COMMENT 'improved, neutral, worse, unknown',
    stored      Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (decision_id, sequence, event_hash)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'What actions did to the objective';
