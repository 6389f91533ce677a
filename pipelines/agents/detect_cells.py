"""The cells of one detect worker: their detectors, and up to where each has read."""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from cluster.frame import Frame
from cluster.topology import Topology
from detectors.cell import CellDetector, Output
from detectors.jobs import Job, Rank
from detectors.records import Alert
from detectors.settings import DetectSettings
from pipelines import topics
from pipelines.messages.frames import FrameDecoder
from pipelines.wire import jobs_pb2
from pipelines.wire import telemetry_pb2 as pb

log = structlog.get_logger()

_FORMAT = "trimtab.detect.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message stands: topic, partition, offset."""

    topic: str
    partition: int
    offset: int

    @property
    def log(self) -> str:
        return f"{self.topic}:{self.partition}"


@dataclass(slots=True)
class _Cell:
    detector: CellDetector
    partition: int
    next_offsets: dict[str, int] = field(default_factory=dict)
    is_dirty: bool = False
    has_read: bool = False


class Cells:
    """Detectors by cell; a cell is made, from its newest snapshot, when its first message comes.

    Parameters
    ----------
    newest_snapshot
        Returns a cell's newest snapshot, or None.
    broker_epoch
        Identifies the broker's log: offsets of a snapshot mean nothing in another one.
    """

    def __init__(
        self,
        *,
        topology: Topology,
        settings: DetectSettings,
        decoder: FrameDecoder,
        newest_snapshot: Callable[[str], pb.BaselineSnapshot | None],
        broker_epoch: str,
    ) -> None:
        self._topology = topology
        self._settings = settings
        self._decoder = decoder
        self._newest_snapshot = newest_snapshot
        self._broker_epoch = broker_epoch
        self._cells: dict[str, _Cell] = {}

    def frame(self, data: bytes, cell_name: str, place: Place) -> Output:
        """Take a frame's message in; one that a snapshot covers brings nothing.

        Raises
        ------
        DecodeError
            It is no frame, or its layout is not known.
        """
        cell = self._cell(cell_name, place.partition)
        if self._is_covered(cell, place):
            return Output()
        frame: Frame = self._decoder.decode(data)
        self._read(cell, place)
        return cell.detector.update(frame)

    def job_event(self, event: jobs_pb2.JobEvent, cell_name: str, place: Place) -> None:
        """Take a job's event in."""
        cell = self._cell(cell_name, place.partition)
        if self._is_covered(cell, place):
            return
        self._read(cell, place)
        cell.detector.job_event(job_of(event), event.event)

    def snapshots(
        self, at_ns: int, partitions: set[int] | None = None
    ) -> list[pb.BaselineSnapshot]:
        """Return snapshots of the cells that read something since their last one."""
        taken = []
        for name, cell in self._cells.items():
            if not cell.is_dirty or (partitions is not None and cell.partition not in partitions):
                continue
            cell.is_dirty = False
            taken.append(
                pb.BaselineSnapshot(
                    cell=name,
                    format=_FORMAT,
                    next_offsets=cell.next_offsets,
                    at_ns=at_ns,
                    state=cell.detector.snapshot(),
                    broker_epoch=self._broker_epoch,
                )
            )
        return taken

    def standing(self) -> list[Alert]:
        """Return the open alerts of the cells that read something since the last call.

        A cell that hears nothing cannot say that its alerts stand.
        """
        alerts: list[Alert] = []
        for cell in self._cells.values():
            if cell.has_read:
                cell.has_read = False
                alerts += cell.detector.open_alerts
        return alerts

    def dirty_again(self, names: set[str]) -> None:
        """Take back that these cells' snapshots are stored."""
        for name in names & self._cells.keys():
            self._cells[name].is_dirty = True

    def drop(self, partitions: set[int]) -> None:
        """Forget the cells of partitions that another worker has now."""
        self._cells = {
            name: cell for name, cell in self._cells.items() if cell.partition not in partitions
        }

    @staticmethod
    def _is_covered(cell: _Cell, place: Place) -> bool:
        return place.offset < cell.next_offsets.get(place.log, 0)

    @staticmethod
    def _read(cell: _Cell, place: Place) -> None:
        cell.next_offsets[place.log] = place.offset + 1
        cell.is_dirty = cell.has_read = True

    def _cell(self, name: str, partition: int) -> _Cell:
        cell = self._cells.get(name)
        if cell is None:
            detector = CellDetector(name, self._topology, self._settings)
            cell = self._cells[name] = _Cell(detector, partition)
            self._restore(name, cell)
        return cell

    def _restore(self, name: str, cell: _Cell) -> None:
        snapshot = self._newest_snapshot(name)
        if snapshot is None:
            log.info("cell starts cold", cell=name)
            return
        fault = (
            cell.detector.restore(snapshot.state)
            if snapshot.format == _FORMAT
            else f"format is {snapshot.format!r}"
        )
        if fault:
            log.warning("cell starts cold, its snapshot does not fit", cell=name, reason=fault)
            return
        for layout in cell.detector.layouts:
            self._decoder.remember(layout)
        same_log = snapshot.broker_epoch == self._broker_epoch
        if same_log:
            cell.next_offsets = dict(snapshot.next_offsets)
        log.info("cell goes on from its snapshot", cell=name, same_log=same_log)


def job_of(event: jobs_pb2.JobEvent) -> Job:
    """Return the job that an event tells of."""
    return Job(
        component=f"job/{event.job_id}",
        ranks=tuple(
            Rank(
                rank=rank.rank,
                gpu=rank.gpu,
                nic=rank.nic,
                data_parallel_group=rank.data_parallel_group,
            )
            for rank in event.announcement.ranks
        ),
        source_ports=tuple(
            connection.source_port
            for rank in event.announcement.ranks
            for connection in rank.connections
        ),
    )


def place_of(message: object) -> Place:
    """Return where a Faust message stands."""
    return Place(
        topic=str(getattr(message, "topic", topics.FRAMES)),
        partition=int(getattr(message, "partition", 0)),
        offset=int(getattr(message, "offset", 0)),
    )
