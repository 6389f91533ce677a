-- Capacity that unequal load leaves unused: among the links of one switch to the tier above, by
-- minute. wasted_ratio 0.25 = the busiest link could carry the same peak with a quarter less.
CREATE VIEW IF NOT EXISTS imbalance $on_cluster AS
SELECT
    l.minute, splitByChar(':', splitByChar('/', toString(l.component))[2])[1] AS switch,
    count() AS links,
    max(l.load_ratio) AS busiest_ratio,
    avg(l.load_ratio) AS mean_ratio,
    if(busiest_ratio > 0, 1 - mean_ratio / busiest_ratio, 0) AS wasted_ratio,
    wasted_ratio * sum(l.capacity_bits_per_second) AS wasted_bits_per_second
FROM link_load AS l
WHERE l.component IN
(
    SELECT concat('port/', x.ends[1]) FROM topology AS x
    WHERE x.kind = 'link' AND concat('switch/', splitByChar(':', x.ends[1])[1])
          IN (SELECT component FROM topology WHERE kind = 'switch')
)
  AND isFinite(l.load_ratio)
GROUP BY l.minute, switch;
