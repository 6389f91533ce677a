-- shard by cityHash64(decision_id)
-- One row per state that an action passed through, from the same message as its decision's row.
CREATE TABLE IF NOT EXISTS actions$local $on_cluster
(
    action_id   String,
    decision_id String,
    sequence    UInt32                 COMMENT 'of the decision''s event',
    event_hash  String                 COMMENT 'of the decision''s event',
    alert_id    String,
    cell        LowCardinality(String),
    at          DateTime64(9, 'UTC')   COMMENT 'clock of the act worker',
    event       LowCardinality(String),
    kind        LowCardinality(String) COMMENT 'reroute, reassign, adjust_batch',
    target      LowCardinality(String) COMMENT 'component changed',
    parameter   LowCardinality(String) COMMENT 'weight_share, role, concurrency_limit, micro_batches',
    from_value  String,
    to_value    String,
    changes     Array(Tuple(target String, path String, from_value String, to_value String)) COMMENT 'every single write, in order',
    expected_gain_ratio Float64        COMMENT 'predicted relative gain of the objective',
    expected_cost_seconds Float64,
    driver      LowCardinality(String),
    stored      Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (action_id, decision_id, sequence, event_hash)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Changes made to the cluster, by state';
