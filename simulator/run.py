"""Runs a simulated cluster until it is told to stop."""

import asyncio
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from cluster.steptimes import FittedStepTimes, StepTimes, read_tables
from simulator.clock import VirtualClock
from simulator.gnmi.server import Credentials
from simulator.inventory import GNMI_USER, Places, inventory
from simulator.job import JobReporter
from simulator.scenario import SCENARIOS
from simulator.servers import Access, Servers
from simulator.state import State, StateFolder, catch_up, write_whole
from simulator.world.world import World

_SAVE_SECONDS = 0.5
_TABLES = "Llama-3.1-70B-Instruct-FP8_h200_sxm_vllm_tp4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says."""

    scenario: str
    seed: int
    speed: float
    state_dir: Path
    inventory: Path
    job_channel: str
    resume: bool
    tables: Path | None = None
    tls_dir: Path | None = None


async def run(options: Options) -> None:
    """Serve the cluster until SIGTERM, SIGINT or the parent's end."""
    options.state_dir.mkdir(parents=True, exist_ok=True)
    folder = StateFolder(options.state_dir.absolute())
    state = _state(options, folder)
    password, token = folder.secret("gnmi.password"), folder.secret("serving.token")
    access = Access(
        credentials=Credentials(GNMI_USER, password.read_text().strip()),
        token=token.read_text().strip(),
        tls_folder=options.tls_dir,
    )
    stop = _stop_event()
    job = JobReporter(state.world, options.job_channel)
    async with Servers(state, access, lambda: folder.save(state)) as servers, job.client:
        folder.save(state)
        places = Places(
            ports=state.ports,
            password_file=password,
            token_file=token,
            tls_ca_file=None if options.tls_dir is None else options.tls_dir / "ca.pem",
        )
        told = json.dumps(inventory(state.world, places), indent=1).encode()
        write_whole(options.inventory, told)
        await _advance(state, servers, job, folder, stop)
        folder.save(state)


def _state(options: Options, folder: StateFolder) -> State:
    kept = folder.load() if options.resume else None
    scenario = SCENARIOS[options.scenario]
    if kept is not None and kept.world.scenario == scenario:
        catch_up(kept)
        return kept
    clock = VirtualClock.starting_now(options.speed)
    times = _step_times(options.tables)
    world = World(scenario, options.seed, clock.start_ns, times)
    return State(clock=clock, world=world)


def _step_times(folder: Path | None) -> StepTimes:
    if folder is None:
        return FittedStepTimes()
    prefill, decode = (folder / f"{_TABLES}_{part}.csv" for part in ("prefill", "decode"))
    return read_tables(prefill.read_text(), decode.read_text())


def _stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _advance(
    state: State, servers: Servers, job: JobReporter, folder: StateFolder, stop: asyncio.Event
) -> None:
    """Let time pass: the world, what expires, the job's reports, and what is kept on disk."""
    parent = os.getppid()
    tick_ns = int(state.world.scenario.tick_seconds * 1e9)
    saved_ns = state.world.time_ns
    while not stop.is_set() and os.getppid() == parent:
        await state.clock.sleep_until(state.world.time_ns + tick_ns)
        state.world.advance_to(state.clock.now_ns())
        for commits in servers.commits:
            commits.expire(state.world.time_ns)
        job.report()
        if state.world.time_ns - saved_ns >= _SAVE_SECONDS * state.clock.speed * 1e9:
            saved_ns = state.world.time_ns
            folder.save(state)
