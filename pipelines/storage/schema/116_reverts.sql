-- Changes that were taken back, by whom and why.
CREATE VIEW IF NOT EXISTS reverts $on_cluster AS
SELECT
    d.at, d.decision_id, d.alert_id, d.component, d.actor, d.reason_code, d.reason,
    r.kind, r.target, r.from_value, r.to_value, r.verdict
FROM (SELECT DISTINCT at, decision_id, alert_id, component, actor, reason_code, reason
      FROM decisions WHERE event = 'rolled_back') AS d
LEFT JOIN action_results AS r ON r.decision_id = d.decision_id;
