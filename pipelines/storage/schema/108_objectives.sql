-- What cells are tuned for, over time.
CREATE VIEW IF NOT EXISTS objectives $on_cluster AS
SELECT m.component, m.metric, m.minute, m.mean, m.least, m.most, m.samples
FROM minutes AS m
WHERE m.metric IN ('train_step_seconds', 'slo_attainment_ratio') AND m.attributes = '';
