-- How evenly the engines of each service are loaded, by minute: requests that run and wait.
CREATE VIEW IF NOT EXISTS pool_balance $on_cluster AS
SELECT
    m.minute, t.service, m.metric, count() AS engines,
    avg(m.mean) AS mean_requests, max(m.mean) AS most_requests, min(m.mean) AS least_requests,
    argMax(m.component, m.mean) AS busiest
FROM minutes AS m
INNER JOIN
(
    SELECT x.component, argMax(x.ends[1], x.written_at) AS service
    FROM topology AS x WHERE x.kind = 'engine' GROUP BY x.component
) AS t ON t.component = m.component
WHERE m.metric IN ('llm_requests_running', 'llm_requests_waiting')
GROUP BY m.minute, t.service, m.metric;
