"""The commit-confirmed and master-arbitration extensions of Set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import grpc
from gnmi_pb import gnmi_ext_pb2

from simulator.gnmi.errors import GnmiError, invalid, precondition

_USUAL_ROLLBACK_NS = 600 * 10**9


class Configuration(Protocol):
    """What can be kept, and brought back whole."""

    def snapshot(self) -> Mapping[Any, Any]: ...

    def write(self, values: Mapping[Any, Any]) -> None:
        """Bring what is named to these values, at once."""
        ...


@dataclass(slots=True)
class Pending:
    """A commit that is rolled back to ``before`` unless it is confirmed by then."""

    commit_id: str
    deadline_ns: int
    before: Mapping[Any, Any]


@dataclass(slots=True)
class CommitState:
    """What a switch remembers between Sets; there is one commit at a time.

    Attributes
    ----------
    elections
        Largest election id seen, by role.
    """

    pending: Pending | None = None
    elections: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Commits:
    """Applies the extensions of a Set to a switch."""

    config: Configuration
    state: CommitState

    def arbitrate(self, extensions: Sequence[gnmi_ext_pb2.Extension]) -> None:
        """Let the newest master of a role through.

        Raises
        ------
        GnmiError
            PERMISSION_DENIED: a newer master has been here.
        """
        for extension in extensions:
            if extension.WhichOneof("ext") != "master_arbitration":
                continue
            told = extension.master_arbitration
            election = (told.election_id.high << 64) | told.election_id.low
            newest = self.state.elections.get(told.role.id, 0)
            if election < newest:
                raise GnmiError(
                    grpc.StatusCode.PERMISSION_DENIED,
                    f"election id {election} of role {told.role.id!r} is older than {newest}",
                )
            self.state.elections[told.role.id] = election

    def begin(self, commit: gnmi_ext_pb2.Commit | None, now_ns: int) -> None:
        """Check that a Set may start, and remember what to roll back to.

        Raises
        ------
        GnmiError
            FAILED_PRECONDITION: a commit waits for its confirmation. INVALID_ARGUMENT: the commit
            has no id.
        """
        if self.state.pending is not None:
            raise precondition(f"commit {self.state.pending.commit_id!r} awaits confirmation")
        if commit is None:
            return
        if not commit.id:
            raise invalid("commit has no id")
        asked = commit.commit.rollback_duration.ToNanoseconds()
        deadline_ns = now_ns + (asked if asked > 0 else _USUAL_ROLLBACK_NS)
        self.state.pending = Pending(commit.id, deadline_ns, self.config.snapshot())

    def conclude(self, commit: gnmi_ext_pb2.Commit, now_ns: int) -> None:
        """Confirm, cancel or prolong the commit that is under way.

        Raises
        ------
        GnmiError
            FAILED_PRECONDITION: none is. INVALID_ARGUMENT: it has another id, or the duration is
            not positive.
        """
        pending = self.state.pending
        if pending is None:
            raise precondition("no commit awaits confirmation")
        if commit.id != pending.commit_id:
            raise invalid(f"commit under way is {pending.commit_id!r}, not {commit.id!r}")
        action = commit.WhichOneof("action")
        if action == "set_rollback_duration":
            duration_ns = commit.set_rollback_duration.rollback_duration.ToNanoseconds()
            if duration_ns <= 0:
                raise invalid("rollback duration is not positive")
            pending.deadline_ns = now_ns + duration_ns
            return
        if action == "cancel":
            self.config.write(pending.before)
        self.state.pending = None

    def expire(self, now_ns: int) -> bool:
        """Roll back a commit that was not confirmed in time; return whether there was one."""
        pending = self.state.pending
        if pending is None or now_ns < pending.deadline_ns:
            return False
        self.config.write(pending.before)
        self.state.pending = None
        return True


def commit_of(extensions: Sequence[gnmi_ext_pb2.Extension]) -> gnmi_ext_pb2.Commit | None:
    """Return the commit extension of a request.

    Raises
    ------
    GnmiError
        INVALID_ARGUMENT: it names no action.
    """
    for extension in extensions:
        if extension.WhichOneof("ext") == "commit":
            if extension.commit.WhichOneof("action") is None:
                raise invalid("commit extension names no action")
            return extension.commit
    return None
