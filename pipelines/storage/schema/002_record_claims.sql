-- shard by cityHash64(topic, partition)
-- Which offsets the recorder writes as one block, told before they are written. Whoever takes
-- over after a crash finds the claim at the committed offset, builds the very same block and
-- writes it under the same deduplication token: it is stored once, whether or not it was in.
-- A claim is itself inserted under a token, so of two recorders that claim at once one wins.
CREATE TABLE IF NOT EXISTS record_claims$local $on_cluster
(
    epoch      LowCardinality(String)  COMMENT 'one life of a topic: cluster id and topic id',
    topic      LowCardinality(String),
    partition  Int32,
    first      Int64                   COMMENT 'committed offset that the block starts from',
    until      Int64                   COMMENT 'offset after its last',
    stored     Date                    COMMENT 'day that the block''s rows carry: they are all of one partition',
    claimed_at DateTime64(3, 'UTC')    COMMENT 'recorder clock'
)
ENGINE = ${replicated}MergeTree
ORDER BY (topic, partition, epoch, first)
TTL toDateTime(claimed_at) + toIntervalDay(30)
SETTINGS $deduplication
COMMENT 'What the recorder is about to write';
