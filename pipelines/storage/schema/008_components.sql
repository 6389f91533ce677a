-- What was measured, from the series: one row per component.
CREATE VIEW IF NOT EXISTS components $on_cluster AS
SELECT
    s.component,
    splitByChar('/', toString(s.component))[1] AS kind,
    anyLast(s.cell) AS cell,
    uniqExact(s.metric, s.attributes) AS series,
    min(s.first_time) AS first_time,
    max(s.last_time) AS last_time
FROM series AS s
GROUP BY s.component;
