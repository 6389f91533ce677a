"""The one user of the embedded database."""

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.embedded.clickhouse.errors import AUTHENTICATION_FAILED, query_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who may query; as in a fresh server, `default` with an empty password unless told."""

    user: str = "default"
    password: str = field(default="", repr=False)

    def admit(self, url_parameters: Mapping[str, str], headers: Mapping[str, str]) -> None:
        """Check the credentials of a request: own headers, then basic auth, then the URL.

        Raises
        ------
        QueryError
            They are wrong, or missing while there is a password.
        """
        user, password = _credentials(url_parameters, headers)
        right_user = hmac.compare_digest(user.encode(), self.user.encode())
        right_password = hmac.compare_digest(password.encode(), self.password.encode())
        if not (right_user and right_password):
            raise query_error(
                AUTHENTICATION_FAILED,
                f"{user}: Authentication failed: password is incorrect, "
                "or there is no user with such name",
            )


def _credentials(url_parameters: Mapping[str, str], headers: Mapping[str, str]) -> tuple[str, str]:
    if "X-ClickHouse-User" in headers or "X-ClickHouse-Key" in headers:
        return headers.get("X-ClickHouse-User") or "default", headers.get("X-ClickHouse-Key", "")
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "basic":
        return _basic(token)
    return url_parameters.get("user") or "default", url_parameters.get("password", "")


def _basic(token: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise query_error(
            AUTHENTICATION_FAILED, "Invalid authentication: not a basic Authorization header"
        ) from error
    return user or "default", password
