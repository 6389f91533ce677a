-- shard by cityHash64(alert_id)
-- One row per revision of an alert; its state is that of the highest revision.
CREATE TABLE IF NOT EXISTS alerts$local $on_cluster
(
    alert_id   String,
    revision   UInt32                 COMMENT '1 = opened',
    cell       LowCardinality(String),
    component  LowCardinality(String) COMMENT 'what is at fault, kind/name',
    cause      LowCardinality(String),
    state      LowCardinality(String) COMMENT 'opened, updated, resolved',
    severity   LowCardinality(String) COMMENT 'critical, warning, info',
    onset      DateTime64(9, 'UTC')   COMMENT 'device time when it began',
    detected   DateTime64(9, 'UTC')   COMMENT 'device time when revision 1 was told',
    revised_at DateTime64(9, 'UTC')   COMMENT 'device time of this revision',
    confidence Float64                COMMENT '0 to 1',
    affected   Array(String)          COMMENT 'components that suffer from it, jobs and services first',
    evidence   Array(String)          COMMENT 'detection_id of each detection',
    ruled_out  Array(String)          COMMENT 'component, cause and reason of each hypothesis refused',
    summary    String,
    message    String                 COMMENT 'trimtab.v1.Alert' CODEC(ZSTD(3)),
    stored     Date                   COMMENT 'day of recording; retention counts from it'
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (alert_id, revision)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Diagnosed degradations, by revision';
