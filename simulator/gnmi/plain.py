"""What a Set's value says, whichever arm carries it."""

import json
from typing import Any

from gnmi_pb import gnmi_pb2

from simulator.gnmi.errors import invalid
from simulator.gnmi.paths import Elems, to_text


def plain_value(value: gnmi_pb2.TypedValue, path: Elems) -> Any:
    """Return a value to be written, JSON read.

    Raises
    ------
    GnmiError
        INVALID_ARGUMENT: it is no JSON, or has a form that no leaf takes.
    """
    arm = value.WhichOneof("value")
    if arm in ("json_ietf_val", "json_val"):
        try:
            return json.loads(getattr(value, arm))
        except ValueError as error:
            raise invalid(f"value of {to_text(path)} is not JSON") from error
    if arm in ("uint_val", "int_val", "bool_val", "string_val"):
        return getattr(value, arm)
    raise invalid(f"value of {to_text(path)} has the unsupported form {arm}")
