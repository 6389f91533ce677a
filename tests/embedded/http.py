"""A plain HTTP client, so that the interface is tested by one that knows nothing of ClickHouse."""

import http.client
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    host: str
    port: int
    database: str = "default"

    def request(
        self,
        method: str,
        *,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        path: str = "/",
        **parameters: str,
    ) -> Reply:
        parameters = {"database": self.database} | parameters
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(method, f"{path}?{urlencode(parameters)}", body, headers or {})
            response = connection.getresponse()
            return Reply(
                status=response.status, headers=dict(response.headers), body=response.read()
            )
        finally:
            connection.close()

    def post(
        self, body: bytes | str = b"", *, headers: dict[str, str] | None = None, **parameters: str
    ) -> Reply:
        raw = body.encode() if isinstance(body, str) else body
        return self.request("POST", body=raw, headers=headers, **parameters)

    def run(self, sql: str, **parameters: str) -> str:
        """Answer of a statement that must succeed."""
        reply = self.post(sql, **parameters)
        assert reply.status == 200, reply.body.decode()
        return reply.body.decode()
