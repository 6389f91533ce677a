"""The simulator's own interface: its clock, the truth, and degradations on demand."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from aiohttp import web

from simulator.clock import VirtualClock
from simulator.http.access import answer, read_object
from simulator.world.faults import Fault, FaultRefusedError, FaultRequest
from simulator.world.world import World

_KINDS = ("degraded_link", "slow_gpu", "long_answers")


@dataclass(frozen=True, slots=True)
class ControlApi:
    """Handlers of the control interface; on loopback, and open to whoever is there."""

    world: World
    clock: VirtualClock
    save: Callable[[], None]

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/clock", self._clock)
        app.router.add_get("/state", self._state)
        app.router.add_post("/faults", self._inject)
        app.router.add_delete("/faults/{fault_id}", self._end)
        return app

    async def _clock(self, _: web.Request) -> web.Response:
        return answer(
            200,
            device_ns=self.world.time_ns,
            start_ns=self.world.start_ns,
            speed=self.clock.speed,
        )

    async def _state(self, _: web.Request) -> web.Response:
        return answer(200, **truth(self.world))

    async def _inject(self, request: web.Request) -> web.Response:
        try:
            fault = self.world.inject(_asked(await read_object(request)))
        except FaultRefusedError as error:
            return answer(400, message=str(error))
        self.save()
        return answer(200, **_told(fault))

    async def _end(self, request: web.Request) -> web.Response:
        fault_id = request.match_info["fault_id"]
        if not self.world.end(fault_id):
            return answer(404, message=f"no fault {fault_id!r}")
        self.save()
        return answer(200, fault_id=fault_id)


def truth(world: World) -> dict[str, Any]:
    """Return how the world really is."""
    fabric, names = world.fabric, world.names
    last = world.training.last
    return {
        "device_ns": world.time_ns,
        "step_seconds": last.step_seconds if last else None,
        "communication_seconds": last.communication_seconds if last else None,
        "step": world.training.number,
        "micro_batches": [int(n) for n in world.training.wanted],
        "attainment_ratio": world.serving.attainment_ratio,
        "roles": {e.name: e.role for e in world.serving.engines},
        "limits": {e.name: e.limit for e in world.serving.engines},
        "weights": {
            f"{names.leaves[leaf]} {names.prefix(target)} {names.spines[spine]}": weight
            for (leaf, target, spine), weight in fabric.weights.items()
        },
        "disabled_ports": [
            ":".join(fabric.wiring.port_names[n])
            for n, enabled in enumerate(fabric.enabled)
            if not enabled
        ],
        "faults": [_told(fault) for fault in world.faults.values()],
    }


def _told(fault: Fault) -> dict[str, Any]:
    told = asdict(fault)
    del told["place"]
    return told


def _asked(body: dict[str, Any]) -> FaultRequest:
    kind, strength = body.get("kind"), body.get("strength")
    if kind not in _KINDS:
        raise FaultRefusedError(f"kind is {kind!r}, not one of {_KINDS}")
    if strength is not None and (
        isinstance(strength, bool) or not isinstance(strength, int | float)
    ):
        raise FaultRefusedError(f"strength is {strength!r}, not a number")
    return FaultRequest(kind=kind, target=str(body.get("target", "")), strength=strength)
