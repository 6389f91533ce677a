"""Which values may enter: finite, and within what is physically possible."""

from cluster.metric import Metric

# DCGM's blanks (not found, not supported, not permissioned) as they come out of float parsing:
# four of int64, which all become one double, and four of double.
_BLANK_INT64 = 9.2233720368e18
_BLANK_DOUBLE = (140737488355328.0, 140737488355331.0)
_BLANK_INT32 = (2147483632.0, 2147483635.0)

BAD_TIME = "bad_time"
BLANK = "blank"
NOT_FINITE = "not_finite"
NOT_NUMERIC = "not_numeric"
OUT_OF_RANGE = "out_of_range"
COLLISION = "same_series_other_value"
REPEATED = "repeated"
TOO_MANY_SERIES = "too_many_series"


def refusal(metric: Metric | None, value: float) -> str:
    """Return why a value in our unit is refused, else an empty string."""
    if value - value != 0.0:  # NaN or infinite, in one comparison
        return NOT_FINITE
    if metric is not None and not metric.lowest <= value <= metric.highest:
        return OUT_OF_RANGE
    return ""


def is_blank(value: float, highest: float) -> bool:
    """Tell whether a raw DCGM value is one of its blanks; they mean "absent".

    A field that can grow beyond 2^31 may really have the value of a 32-bit blank, so those are
    looked for only where ``highest`` (in the raw unit) lies below.
    """
    if value >= _BLANK_INT64 or _BLANK_DOUBLE[0] <= value <= _BLANK_DOUBLE[1]:
        return True
    return highest < _BLANK_INT32[0] and _BLANK_INT32[0] <= value <= _BLANK_INT32[1]
