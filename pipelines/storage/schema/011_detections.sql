-- shard by cityHash64(component)
CREATE TABLE IF NOT EXISTS detections$local $on_cluster
(
    detection_id String,
    cell         LowCardinality(String),
    component    LowCardinality(String) COMMENT 'kind/name',
    metric       LowCardinality(String),
    attributes   LowCardinality(String),
    detector     LowCardinality(String),
    scope        LowCardinality(String) COMMENT 'self: against its own baseline; peers: against its group',
    onset        DateTime64(9, 'UTC')   COMMENT 'device time where the shift is estimated to begin',
    detected     DateTime64(9, 'UTC')   COMMENT 'device time of the sample that told',
    shift_sigmas Float64                COMMENT 'signed distance from the baseline',
    before       Float64                COMMENT 'baseline level, in the metric''s unit',
    after        Float64                COMMENT 'level now, in the metric''s unit',
    stored       Date                   COMMENT 'day of recording; retention counts from it',
    INDEX by_id detection_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(stored)
ORDER BY (component, metric, detection_id)
TTL stored + toIntervalDay($audit_days)
SETTINGS ttl_only_drop_parts = 1, $deduplication
COMMENT 'Shifts found in one series, or of one series against its peers';
