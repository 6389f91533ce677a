"""HTTP sessions: a connection of its own that keeps temporary tables and SET between requests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pipelines.embedded.clickhouse.errors import (
    SESSION_IS_LOCKED,
    SESSION_NOT_FOUND,
    query_error,
)
from pipelines.embedded.clickhouse.request import Session


@dataclass(slots=True)
class _Open:
    connection: Any
    busy: bool = True
    expires_at_seconds: float = 0.0


@dataclass(slots=True)
class Sessions:
    """Open sessions by name; safe to use from any thread.

    As in a server, a session serves one request at a time: a second one meanwhile is an error.
    """

    connect: Callable[[], Any]
    monotonic_seconds: Callable[[], float]
    _open: dict[str, _Open] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def borrow(self, wanted: Session) -> Iterator[Any]:
        """Lend the session's connection to one request.

        Raises
        ------
        QueryError
            Another request uses the session, or it must exist and does not.
        """
        session = self._take(wanted)
        try:
            yield session.connection
        finally:
            self._give_back(wanted, session)

    def close(self) -> None:
        with self._lock:
            for session in self._open.values():
                session.connection.close()
            self._open.clear()

    def _take(self, wanted: Session) -> _Open:
        with self._lock:
            self._drop_expired()
            session = self._open.get(wanted.name)
            if session is None:
                if wanted.must_exist:
                    raise query_error(SESSION_NOT_FOUND, f"Session {wanted.name} not found")
                session = self._open[wanted.name] = _Open(connection=self.connect())
            elif session.busy:
                raise query_error(
                    SESSION_IS_LOCKED, f"Session {wanted.name} is locked by a concurrent client"
                )
            session.busy = True
            return session

    def _give_back(self, wanted: Session, session: _Open) -> None:
        with self._lock:
            session.busy = False
            session.expires_at_seconds = self.monotonic_seconds() + wanted.timeout_seconds
            if wanted.closes:
                del self._open[wanted.name]
                session.connection.close()

    def _drop_expired(self) -> None:
        now = self.monotonic_seconds()
        over = [n for n, s in self._open.items() if not s.busy and s.expires_at_seconds < now]
        for name in over:
            self._open.pop(name).connection.close()
