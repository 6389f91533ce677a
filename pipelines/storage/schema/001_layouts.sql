-- shard by layout_id
-- Columns of every frame layout seen. Frames carry their layout only now and then; what started
-- in between looks it up here, so that no frame is lost after a restart.
CREATE TABLE IF NOT EXISTS layouts$local $on_cluster
(
    layout_id  UInt64                        COMMENT 'hash of the columns: equal columns, equal id',
    component  Array(LowCardinality(String)) COMMENT 'by column, kind/name',
    metric     Array(LowCardinality(String)) COMMENT 'by column',
    attributes Array(LowCardinality(String)) COMMENT 'by column, sorted name="value" pairs'
)
ENGINE = ${replicated}ReplacingMergeTree
ORDER BY layout_id
SETTINGS $deduplication
COMMENT 'Layouts of frames';
