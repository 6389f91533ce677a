-- Optics by how much is wrong with them in the last day that has readings, the worst first.
CREATE VIEW IF NOT EXISTS worst_optics $on_cluster AS
SELECT
    m.component, m.metric, max(m.most) AS worst, argMax(m.last, m.minute) AS last,
    sum(m.samples) AS samples
FROM minutes AS m
WHERE m.metric = 'net_if_pre_fec_ber_ratio'
  AND m.minute > (SELECT max(minute) FROM minutes) - INTERVAL 1 DAY
GROUP BY m.component, m.metric
ORDER BY worst DESC, m.component;
