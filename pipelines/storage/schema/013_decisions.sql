-- shard by cityHash64(decision_id)
-- One row per event of a decision. Two rows of one sequence with different hashes are a history
-- that was told twice in two ways: both are kept, so that it shows.
CREATE TABLE IF NOT EXISTS decisions$local $on_cluster
(
    decision_id String,
    sequence    UInt32                 COMMENT 'counts the events of one decision from 1',
    event_hash  String                 COMMENT 'SHA-256 over the event with its predecessor''s hash',
    previous_hash String,
    alert_id    String,
    cell        LowCardinality(String),
    component   LowCardinality(String) COMMENT 'of the alert',
    cause       LowCardinality(String) COMMENT 'of the alert',
    at          DateTime64(9, 'UTC')   COMMENT 'clock of the act worker',
    event       LowCardinality(String),
    reason_code LowCardinality(String),
    reason      String,
    mode        LowCardinality(String) COMMENT 'auto, approve, advise, off',
    actor       LowCardinality(String) COMMENT 'trimtab, or the person',
    action_id   String                 COMMENT 'empty when the decision is to do nothing',
    constraints_checked Array(String),
    rejected_alternatives Array(String) COMMENT 'kind, target and reason of each',
    evidence_ids Array(String),
    config_hash LowCardinality(String),
    message     String                 COMMENT 'trimtab.v1.DecisionEvent' CODEC(ZSTD(3)),
    stored      Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (decision_id, sequence, event_hash)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'What was decided about each alert, by event';
