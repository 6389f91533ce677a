-- From the onset of each degradation to its alert, to the first change, and to the verdict.
CREATE VIEW IF NOT EXISTS mitigation_times $on_cluster AS
SELECT
    a.alert_id AS alert_id, any(a.component) AS component, any(a.cause) AS cause,
    any(a.delay_seconds) AS detected_seconds,
    (min(toUnixTimestamp64Nano(d.at)) - any(toUnixTimestamp64Nano(a.onset))) / 1e9 AS acted_seconds,
    (max(toUnixTimestamp64Nano(v.at)) - any(toUnixTimestamp64Nano(a.onset))) / 1e9 AS kept_seconds
FROM detection_delays AS a
INNER JOIN (SELECT alert_id, at FROM decisions WHERE event = 'succeeded') AS d USING (alert_id)
INNER JOIN (SELECT alert_id, at FROM decisions WHERE event = 'kept') AS v USING (alert_id)
GROUP BY a.alert_id;
