-- What was refused, by reason and source.
CREATE VIEW IF NOT EXISTS dead_letter_reasons $on_cluster AS
SELECT
    l.reason, l.source,
    uniqExact(l.letter_id) AS letters,
    sum(l.samples) AS samples,
    max(l.at) AS last_at,
    argMax(l.detail, l.at) AS last_detail
FROM dead_letters AS l
GROUP BY l.reason, l.source
ORDER BY letters DESC, l.reason, l.source;
