-- What is degraded now, since when, and why.
CREATE VIEW IF NOT EXISTS degraded_now $on_cluster AS
SELECT component, cause, severity, since, confidence, affected, evidence, summary, cell, alert_id
FROM
(
    SELECT
        alert_id,
        argMax(a.cell, a.revision) AS cell,
        argMax(a.component, a.revision) AS component,
        argMax(a.cause, a.revision) AS cause,
        argMax(a.severity, a.revision) AS severity,
        argMax(a.onset, a.revision) AS since,
        argMax(a.confidence, a.revision) AS confidence,
        argMax(a.affected, a.revision) AS affected,
        argMax(a.evidence, a.revision) AS evidence,
        argMax(a.summary, a.revision) AS summary,
        argMax(a.state, a.revision) AS state
    FROM alerts AS a
    GROUP BY alert_id
)
WHERE state != 'resolved';
