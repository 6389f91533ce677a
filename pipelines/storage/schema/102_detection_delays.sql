-- How long each degradation lasted before it was told, and before it was resolved.
CREATE VIEW IF NOT EXISTS detection_delays $on_cluster AS
SELECT
    a.alert_id,
    argMax(a.cell, a.revision) AS cell,
    argMax(a.component, a.revision) AS component,
    argMax(a.cause, a.revision) AS cause,
    argMax(a.onset, a.revision) AS onset,
    min(a.detected) AS detected,
    (toUnixTimestamp64Nano(detected) - toUnixTimestamp64Nano(onset)) / 1e9 AS delay_seconds,
    countIf(a.state = 'resolved') > 0 AS is_resolved,
    if(is_resolved,
       (toUnixTimestamp64Nano(maxIf(a.revised_at, a.state = 'resolved'))
        - toUnixTimestamp64Nano(onset)) / 1e9,
       nan) AS lasted_seconds
FROM alerts AS a
GROUP BY a.alert_id;
