-- The newest state of each decision.
CREATE VIEW IF NOT EXISTS decision_states $on_cluster AS
SELECT
    d.decision_id,
    argMax(d.alert_id, d.sequence) AS alert_id,
    argMax(d.cell, d.sequence) AS cell,
    argMax(d.component, d.sequence) AS component,
    argMax(d.cause, d.sequence) AS cause,
    argMax(d.event, d.sequence) AS event,
    argMax(d.reason_code, d.sequence) AS reason_code,
    argMax(d.reason, d.sequence) AS reason,
    argMax(d.mode, d.sequence) AS mode,
    argMax(d.actor, d.sequence) AS actor,
    argMax(d.action_id, d.sequence) AS action_id,
    min(d.at) AS decided_at,
    max(d.at) AS changed_at,
    max(d.sequence) AS events
FROM decisions AS d
GROUP BY d.decision_id;
