-- Alerts that look wrong in hindsight: over before anything was done, and no objective suffered.
CREATE VIEW IF NOT EXISTS false_alarms $on_cluster AS
SELECT
    d.alert_id, d.cell, d.component, d.cause, d.detected, d.lasted_seconds,
    toDate(d.detected) AS day
FROM detection_delays AS d
WHERE d.is_resolved
  AND d.alert_id NOT IN (SELECT alert_id FROM effects WHERE verdict = 'improved')
  AND d.alert_id NOT IN (SELECT alert_id FROM alerts WHERE notEmpty(affected));
