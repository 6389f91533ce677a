"""Why a gNMI call is refused."""

import grpc


class GnmiError(Exception):
    """Ends the call with a status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code = code
        self.details = details


def invalid(details: str) -> GnmiError:
    return GnmiError(grpc.StatusCode.INVALID_ARGUMENT, details)


def unimplemented(details: str) -> GnmiError:
    return GnmiError(grpc.StatusCode.UNIMPLEMENTED, details)


def precondition(details: str) -> GnmiError:
    return GnmiError(grpc.StatusCode.FAILED_PRECONDITION, details)
