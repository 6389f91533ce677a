-- Load of every port by minute, and of its link where the topology tells its capacity.
CREATE VIEW IF NOT EXISTS link_load $on_cluster AS
SELECT
    r.component,
    toStartOfMinute(r.time) AS minute,
    avg(r.rate_per_second) * 8 AS bits_per_second,
    any(t.capacity_bits_per_second) AS capacity_bits_per_second,
    if(capacity_bits_per_second > 0, bits_per_second / capacity_bits_per_second, nan) AS load_ratio
FROM counter_rates(metric = 'net_if_out_octets_total') AS r
LEFT JOIN
(
    SELECT
        concat('port/', arrayJoin(x.ends)) AS component,
        argMax(x.capacity_bits_per_second, x.written_at) AS capacity_bits_per_second
    FROM topology AS x
    WHERE x.kind = 'link'
    GROUP BY component
) AS t ON t.component = r.component
GROUP BY r.component, minute;
