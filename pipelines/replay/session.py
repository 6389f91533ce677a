"""One ``trimtab replay``: send, wait until all is judged and recorded, tell what came of it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from kafka.errors import KafkaError

from pipelines.clock import SystemClock
from pipelines.config.load import Loaded, load
from pipelines.config.running import with_running_services
from pipelines.demo.progress import Progress
from pipelines.reach import listens
from pipelines.replay.own import start_own
from pipelines.replay.recorded import count_samples, recorded, told_alerts, told_detections
from pipelines.replay.report import ReplayReport
from pipelines.replay.run import replay
from pipelines.replay.settle import Settling
from pipelines.replay.table import file_table, is_whole, total_line
from pipelines.replay.truth import beside_truth, scenarios
from pipelines.storage.client import connect
from pipelines.supervise.deployment import Deployment
from pipelines.supervise.supervisor import ChildFailedError

_WATCH_SECONDS = 0.3
_EXAMPLE = "SELECT * FROM alerts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    config_path
        Of a running deployment; None makes an own one in ``folder``.
    """

    files: tuple[Path, ...]
    config_path: Path | None
    folder: Path
    speed: float
    cell: str
    warmup_samples: int
    keep: bool


class Session:
    """One run of the command."""

    def __init__(self, options: Options, progress: Progress) -> None:
        self._options = options
        self._progress = progress
        self._deployment = Deployment()

    def run(self) -> bool:
        """Return True when every sample read is one row or refused with a dead letter.

        Raises
        ------
        ConfigError
            The configuration is wrong, or its deployment does not run.
        ChildFailedError
            The own deployment does not start, or does not keep running.
        """
        try:
            loaded = self._start()
            with _database(loaded) as database:
                holds = self._replay(loaded, database)
            self._tell_places(loaded)
        finally:
            self._deployment.stop()
        return holds

    @property
    def _is_own(self) -> bool:
        return self._options.config_path is None

    def _start(self) -> Loaded:
        options = self._options
        if options.config_path is None:
            self._progress.say("starting trimtab up: broker, database, every process")
            return start_own(
                self._deployment, options.folder, warmup_samples=options.warmup_samples
            )
        return with_running_services(load(options.config_path))

    def _replay(self, loaded: Loaded, database: Client) -> bool:
        self._progress.say("replaying")
        report = asyncio.run(self._send(loaded))
        self._progress.say(
            f"sent {report.samples:,} samples in {report.frames:,} frames, "
            f"{report.letters} dead letters"
        )
        for file in report.files:
            if file.error:
                self._progress.show(f"not read: {file.path}: {file.error}")
        given_up = self._settle(loaded)
        found = recorded(database, report)
        self._progress.say(given_up or "judged and recorded")
        self._progress.show("\n" + file_table(report, found))
        self._progress.show("\n" + total_line(report, found))
        holds = is_whole(report, found) and not given_up and self._adds_up(report, database)
        self._tell_truth(report, database)
        return holds and any(not file.error for file in report.files)

    async def _send(self, loaded: Loaded) -> ReplayReport:
        sending = asyncio.create_task(
            replay(
                loaded,
                self._options.files,
                cell=self._options.cell,
                clock=SystemClock(),
                speed=self._options.speed,
            )
        )
        while not (await asyncio.wait({sending}, timeout=_WATCH_SECONDS))[0]:
            self._deployment.watch()
            self._progress.pulse("  sending")
        return await sending

    def _settle(self, loaded: Loaded) -> str:
        """Wait for detect and record; return why it was given up, else nothing."""
        with closing(Settling(loaded)) as settling:

            def settled() -> bool:
                self._progress.pulse(f"  {settling.waiting_for}")
                return settling.done()

            self._deployment.wait(float("inf"), settled)
            return settling.given_up

    def _adds_up(self, report: ReplayReport, database: Client) -> bool:
        """Count the rows themselves as well, where there are no others."""
        if not self._is_own:
            return True
        rows = count_samples(database)
        if rows == report.samples:
            return True
        self._progress.show(f"the ledger says {report.samples:,}, but samples has {rows:,} rows")
        return False

    def _tell_truth(self, report: ReplayReport, database: Client) -> None:
        labelled = scenarios(report.files)
        if labelled:
            told = beside_truth(
                labelled,
                alerts=partial(told_alerts, database),
                detections=partial(told_detections, database),
            )
            self._progress.show(told)

    def _tell_places(self, loaded: Loaded) -> None:
        if not self._is_own:
            return
        self._progress.show(f"\nlogs: {loaded.state_dir / 'logs'}")
        if self._options.keep:
            self._progress.show(
                f"SQL:  trimtab sql --config {loaded.path} '{_EXAMPLE}'\n"
                "everything keeps running; Ctrl-C ends it"
            )
            with suppress(KeyboardInterrupt):
                self._deployment.wait(float("inf"), lambda: False)


@contextmanager
def _database(loaded: Loaded) -> Iterator[Client]:
    """Open the database; whatever is not reached, then or later, is told in one line."""
    bootstrap = loaded.config.broker.bootstrap
    if not listens(bootstrap):
        raise ChildFailedError(f"nothing listens at {bootstrap}: the broker is not there")
    try:
        with closing(connect(loaded)) as client:
            yield client
    except ClickHouseError as error:
        url = loaded.config.database.url
        raise ChildFailedError(f"database {url} does not answer: {error}") from error
    except KafkaError as error:
        raise ChildFailedError(f"broker {bootstrap} does not answer: {error}") from error
