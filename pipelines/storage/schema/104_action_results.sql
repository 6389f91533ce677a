-- What each action changed, how far it came, and what it did to the objective.
CREATE VIEW IF NOT EXISTS action_results $on_cluster AS
SELECT
    a.action_id, a.decision_id, a.alert_id, a.cell, a.kind, a.target, a.parameter,
    a.from_value, a.to_value, a.changes, a.expected_gain_ratio, a.state, a.proposed_at,
    e.component AS objective, e.metric, e.better, e.healthy, e.before, e.after,
    e.gain_low_ratio, e.gain_high_ratio, e.verdict
FROM
(
    SELECT
        action_id, decision_id,
        any(x.alert_id) AS alert_id,
        any(x.cell) AS cell,
        any(x.kind) AS kind,
        any(x.target) AS target,
        any(x.parameter) AS parameter,
        argMax(x.from_value, x.sequence) AS from_value,
        argMax(x.to_value, x.sequence) AS to_value,
        argMax(x.changes, x.sequence) AS changes,
        argMax(x.expected_gain_ratio, x.sequence) AS expected_gain_ratio,
        argMax(x.event, x.sequence) AS state,
        min(x.at) AS proposed_at
    FROM actions AS x
    GROUP BY action_id, decision_id
) AS a
LEFT JOIN
(
    SELECT
        decision_id,
        argMax(y.component, y.sequence) AS component,
        argMax(y.metric, y.sequence) AS metric,
        argMax(y.better, y.sequence) AS better,
        argMax(y.healthy, y.sequence) AS healthy,
        argMax(y.before, y.sequence) AS before,
        argMax(y.after, y.sequence) AS after,
        argMax(y.gain_low_ratio, y.sequence) AS gain_low_ratio,
        argMax(y.gain_high_ratio, y.sequence) AS gain_high_ratio,
        argMax(y.verdict, y.sequence) AS verdict
    FROM effects AS y
    GROUP BY decision_id
) AS e ON e.decision_id = a.decision_id;
