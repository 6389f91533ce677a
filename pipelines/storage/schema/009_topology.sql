-- shard by rand()
-- The cluster as configured: one row per component, written when the recorder starts.
-- The newest configuration is the one of max(written_at).
CREATE TABLE IF NOT EXISTS topology$local $on_cluster
(
    configuration String                COMMENT 'hash of the topology file''s content',
    component     String                COMMENT 'kind/name',
    kind          LowCardinality(String),
    cell          LowCardinality(String),
    ends          Array(String)         COMMENT 'what it joins or is part of: ends of a link, host and NIC of a GPU, service of an engine',
    capacity_bits_per_second Float64    COMMENT 'of a link, else 0',
    written_at    DateTime64(3, 'UTC')  COMMENT 'recorder clock'
)
ENGINE = ${replicated}ReplacingMergeTree(written_at)
ORDER BY (configuration, component)
SETTINGS $deduplication
COMMENT 'The cluster as configured';
