-- Rates of raw counters per second, between neighbouring readings of one metric:
-- SELECT * FROM counter_rates(metric = 'net_if_out_octets_total').
-- A counter that went back was reset: there the rate is unknown and the reading is left out.
CREATE VIEW IF NOT EXISTS counter_rates $on_cluster AS
SELECT component, attributes, time, (value - earlier) / seconds AS rate_per_second
FROM
(
    SELECT
        s.component, s.attributes, s.time, s.value,
        lagInFrame(s.value, 1, nan) OVER w AS earlier,
        (toUnixTimestamp64Nano(s.time)
         - toUnixTimestamp64Nano(lagInFrame(s.time) OVER w)) / 1e9 AS seconds
    FROM (SELECT DISTINCT component, attributes, time, value FROM samples
          WHERE metric = {metric:String}) AS s
    WINDOW w AS (PARTITION BY s.component, s.attributes ORDER BY s.time
                 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
WHERE value >= earlier AND seconds > 0;
