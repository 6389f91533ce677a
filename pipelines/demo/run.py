"""``trimtab demo``: a simulated cluster, three hidden degradations, what Trimtab makes of them."""

import shutil
from contextlib import closing, suppress
from pathlib import Path

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import Error

from actuators.records import Event
from pipelines.config.load import Loaded, read_secret
from pipelines.config.running import with_running_services
from pipelines.demo.faults import SCRIPTS, Control, Fault, Scripted
from pipelines.demo.progress import Progress
from pipelines.demo.receiver import Receiver
from pipelines.demo.settings import free_ports, write_tokens
from pipelines.demo.stage import DemoFailedError, Stage
from pipelines.demo.table import Outcome, table
from pipelines.demo.watch import Story, Watch
from pipelines.facts import Facts
from pipelines.storage.client import connect

_CONTROL_SECONDS = 30.0
_COUNT = "SELECT count() FROM samples"
_EXAMPLE = "SELECT * FROM alerts"


class Demo:
    """One run; everything it writes is below one folder, which is emptied first.

    Parameters
    ----------
    broker_url
        ``embedded``, or a Kafka broker that is there: ``kafka://host:port``.
    settle_seconds
        From readiness to the first fault: the baselines' warm-up.
    fault_seconds
        How long each fault may take until its effect is known.
    """

    def __init__(
        self,
        folder: Path,
        *,
        progress: Progress,
        scenario: str = "first_light",
        broker_url: str = "embedded",
        settle_seconds: float,
        fault_seconds: float,
    ) -> None:
        self._folder = folder.absolute()
        self._progress = progress
        self._settle_seconds = settle_seconds
        self._fault_seconds = fault_seconds
        self._ports = free_ports()
        self._script = SCRIPTS[scenario]
        self._stage = Stage(self._folder, self._ports, scenario=scenario, broker_url=broker_url)

    def run(self, *, serve: bool) -> bool:
        """Return True when every fault was found, acted on and improved.

        On a cluster where flows are placed together this must have helped, too, and a mended link
        must have got its flows back.

        With ``serve`` everything keeps running after the table, until it is interrupted.

        Raises
        ------
        DemoFailedError
            The simulator or a process of Trimtab does not start.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        write_tokens(self._folder)
        secret = read_secret(self._folder / "webhook.secret")
        receiver = Receiver(port=self._ports.webhook, secret=secret)
        receiver.start()
        try:
            held = self._carry_out(receiver)
            if serve:
                self._progress.say("everything keeps running; Ctrl-C ends it")
                with suppress(KeyboardInterrupt):
                    self._stage.wait(float("inf"), lambda: False)
        finally:
            self._stage.stop()
            receiver.stop()
        return held

    def _carry_out(self, receiver: Receiver) -> bool:
        self._progress.say("starting the simulated cluster")
        self._stage.start_simulator()
        self._progress.say("starting trimtab up: broker, database, every process")
        loaded = with_running_services(self._stage.start_trimtab())
        with closing(connect(loaded)) as database:
            facts = Facts(database)
            placed = self._settle(database, facts)
            outcomes = [self._one(scripted, facts) for scripted in self._script.faults]
            mended = not self._script.mends or self._mend(outcomes[-1], facts)
            self._progress.show("")
            self._progress.show(table(outcomes, first_ns=outcomes[0].fault.started_ns))
            self._progress.show(self._other_alerts(facts, outcomes))
        self._progress.show(self._places(loaded, outcomes, receiver))
        return placed and mended and all(outcome.holds for outcome in outcomes)

    def _settle(self, database: Client, facts: Facts) -> bool:
        """Let baselines be learned; return whether jobs were placed well, where they are to be."""
        self._progress.say(f"settling for {self._settle_seconds:.0f} s: baselines are learned")
        placing = Story(facts, "placement", Event.KEPT)

        def tell() -> bool:
            for line in placing.news() if self._script.places_jobs else ():
                self._progress.say(f"  {line}")
            self._progress.pulse(f"  {_recorded(database)} samples recorded")
            return False

        self._stage.wait(self._settle_seconds, tell)
        return placing.improved or not self._script.places_jobs

    def _mend(self, outcome: Outcome, facts: Facts) -> bool:
        """End the fault; return whether what was moved came back."""
        self._progress.say(f"mended: {outcome.fault.component}")
        Control(self._stage.control_url).end(outcome.fault)
        story = Story(facts, outcome.fault.cause, Event.ROLLED_BACK)
        story.news()

        def follow() -> bool:
            for line in story.news():
                self._progress.say(f"  {line}")
            self._progress.pulse("  waiting")
            return story.ended

        return self._stage.wait(self._fault_seconds, follow)

    def _one(self, scripted: Scripted, facts: Facts) -> Outcome:
        fault = self._inject(scripted)
        self._progress.say(f"fault: {scripted.title} ({fault.component})")
        watch = Watch(fault, facts)

        def follow() -> bool:
            for line in watch.news():
                self._progress.say(f"  {line}")
            self._progress.pulse("  waiting")
            return watch.ended

        self._stage.wait(self._fault_seconds, follow)
        return watch.outcome()

    def _inject(self, scripted: Scripted) -> Fault:
        injected: list[Fault] = []

        def inject() -> bool:
            try:
                injected.append(Control(self._stage.control_url).inject(scripted))
            except OSError:
                return False
            return True

        if not self._stage.wait(_CONTROL_SECONDS, inject):
            raise DemoFailedError("the simulator's control interface does not answer")
        return injected[0]

    def _other_alerts(self, facts: Facts, outcomes: list[Outcome]) -> str:
        expected = {outcome.fault.component for outcome in outcomes}
        others = [alert for alert in facts.alerts() if alert.component not in expected]
        told = ", ".join(f"{alert.component} {alert.cause}" for alert in others)
        return f"\nother alerts: {len(others)}{': ' + told if told else ''}"

    def _places(self, loaded: Loaded, outcomes: list[Outcome], receiver: Receiver) -> str:
        told = sum(receiver.received.values())
        decision = next((o.decision_id for o in outcomes if o.decision_id), "ID")
        return "\n".join(
            (
                f"webhooks: {told} received with a good signature, {receiver.refused} refused",
                f"SQL:      .venv/bin/trimtab sql --config {loaded.path} '{_EXAMPLE}'"
                f"  (while it runs: {loaded.config.database.url})",
                f"story:    .venv/bin/trimtab explain --config {loaded.path} {decision}",
                f"console:  http://{loaded.config.serve.address}/  (token in "
                f"{self._folder / 'console.token'}; `trimtab demo --serve` keeps it running)",
                f"logs:     {self._folder / 'logs'} and {loaded.state_dir / 'logs'}",
            )
        )


def _recorded(database: Client) -> str:
    try:
        return f"{int(str(database.command(_COUNT))):,}"
    except Error:
        return "no"
