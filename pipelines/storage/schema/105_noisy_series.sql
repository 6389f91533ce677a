-- Which series shift most often: where a threshold, or the device, wants a look.
CREATE VIEW IF NOT EXISTS noisy_series $on_cluster AS
SELECT
    d.component, d.metric, d.attributes,
    uniqExact(d.detection_id) AS detections,
    max(abs(d.shift_sigmas)) AS largest_shift_sigmas,
    max(d.detected) AS last_detected
FROM detections AS d
GROUP BY d.component, d.metric, d.attributes
ORDER BY detections DESC, d.component, d.metric, d.attributes;
