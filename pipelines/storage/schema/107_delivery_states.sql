-- Where each webhook stands.
CREATE VIEW IF NOT EXISTS delivery_states $on_cluster AS
SELECT
    d.delivery_id,
    any(d.endpoint) AS endpoint,
    any(d.event_type) AS event_type,
    any(d.subject_id) AS subject_id,
    argMax(d.state, (d.at, d.attempt)) AS state,
    argMax(d.status, (d.at, d.attempt)) AS status,
    argMax(d.detail, (d.at, d.attempt)) AS detail,
    max(d.attempt) AS attempts,
    min(d.at) AS first_at,
    max(d.at) AS last_at
FROM deliveries AS d
GROUP BY d.delivery_id;
