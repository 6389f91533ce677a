"""The drivers of one deployment, and which of them carries an action out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from actuators.planner import Ports
from actuators.ports import Driver, PermanentActuationError
from actuators.records import Action
from actuators.view import View
from cluster import component as names
from pipelines.clock import Clock
from pipelines.config.load import Loaded
from pipelines.drivers.gnmi_set import GnmiSet, gnmi_set
from pipelines.drivers.job_channel import JobChannelDriver, job_channel_driver
from pipelines.drivers.serving_http import ServingHttp, serving_drivers


@dataclass(frozen=True, slots=True, kw_only=True)
class Drivers:
    """Drivers by name; those of services by service name."""

    ports: Ports
    by_name: Mapping[str, Driver] = field(default_factory=dict)
    by_service: Mapping[str, Driver] = field(default_factory=dict)

    def of(self, action: Action, view: View) -> Driver:
        """Return the driver that an action was planned for.

        Raises
        ------
        PermanentActuationError
            The configuration has it no more.
        """
        service = view.service_of(action.target)
        driver = (
            self.by_service.get(names.name_of(service or ""))
            if action.driver == "serving"
            else self.by_name.get(action.driver)
        )
        if driver is None:
            raise PermanentActuationError(f"no driver {action.driver!r} for {action.target}")
        return driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The real drivers, to be closed at the end."""

    drivers: Drivers
    _fabric: GnmiSet
    _jobs: JobChannelDriver
    _services: Mapping[str, ServingHttp]

    async def close(self) -> None:
        await self._fabric.close()
        await self._jobs.close()
        for service in self._services.values():
            await service.close()


def open_drivers(loaded: Loaded, clock: Clock) -> Opened:
    """Return the drivers that the configuration asks for; nothing is connected yet."""
    fabric = gnmi_set(loaded, clock)
    jobs = job_channel_driver(loaded)
    services = serving_drivers(loaded)
    writable = any(target.writable for target in loaded.config.collect.gnmi)
    drivers = Drivers(
        ports=Ports(fabric=fabric if writable else None, pools=services, jobs=jobs),
        by_name={fabric.name: fabric, jobs.name: jobs},
        by_service=services,
    )
    return Opened(drivers=drivers, _fabric=fabric, _jobs=jobs, _services=services)
