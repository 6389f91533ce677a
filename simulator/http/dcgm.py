"""What dcgm-exporter says of a host's GPUs."""

from collections.abc import Callable

from simulator.http.exposition import Exposition, labels
from simulator.world.gpus import CLOCK_MEGAHERTZ, MEMORY_CLOCK_MEGAHERTZ, MEMORY_MEBIBYTES
from simulator.world.world import World

_MODEL = "NVIDIA H200"
_DRIVER = "580.105.08"
_RESERVED_MEBIBYTES = 600.0
_Read = Callable[[int], float]


def dcgm_text(world: World, host: int, *, stamp: str = "") -> str:
    """Return the scrape of one host."""
    body = Exposition(lines=[], stamp=stamp)
    names = world.names
    told = [
        labels(
            {
                "gpu": str(n),
                "UUID": names.gpu_uuid(host, n),
                "pci_bus_id": f"00000000:{0x1A + n:02X}:00.0",
                "device": f"nvidia{n}",
                "modelName": _MODEL,
                "Hostname": names.hosts[host],
                "DCGM_FI_DRIVER_VERSION": _DRIVER,
            }
        )
        for n in range(world.scenario.fabric.gpus_per_host)
    ]
    for name, kind, text, read in (*_device(world, host), *_profiling(world, host)):
        body.family(name, kind, text, [(label, read(n)) for n, label in enumerate(told)])
    return body.text()


def _device(world: World, host: int) -> list[tuple[str, str, str, _Read]]:
    gpus = world.gpus
    used = gpus.used_mebibytes[host]
    dev = "DCGM_FI_DEV_"
    return [
        (
            dev + "SM_CLOCK",
            "gauge",
            "SM clock frequency (in MHz).",
            lambda n: round(CLOCK_MEGAHERTZ * gpus.speed[host, n] / 15.0) * 15.0,
        ),
        (
            dev + "MEM_CLOCK",
            "gauge",
            "Memory clock frequency (in MHz).",
            lambda n: MEMORY_CLOCK_MEGAHERTZ,
        ),
        (
            dev + "MEMORY_TEMP",
            "gauge",
            "Memory temperature (in C).",
            lambda n: round(gpus.celsius[host, n] + 8.0),
        ),
        (
            dev + "GPU_TEMP",
            "gauge",
            "GPU temperature (in C).",
            lambda n: round(gpus.celsius[host, n]),
        ),
        (
            dev + "POWER_USAGE",
            "gauge",
            "Power draw (in W).",
            lambda n: round(gpus.watts[host, n], 3),
        ),
        (
            dev + "TOTAL_ENERGY_CONSUMPTION",
            "counter",
            "Total energy consumption since boot (in mJ).",
            lambda n: round(gpus.joules[host, n] * 1e3),
        ),
        (dev + "PCIE_REPLAY_COUNTER", "counter", "Total number of PCIe retries.", lambda n: 0.0),
        (
            dev + "GPU_UTIL",
            "gauge",
            "GPU utilization (in %).",
            lambda n: round(100.0 * min(1.0, gpus.busy[host, n] * 1.3)),
        ),
        (
            dev + "MEM_COPY_UTIL",
            "gauge",
            "Memory utilization (in %).",
            lambda n: round(60.0 * gpus.busy[host, n]),
        ),
        (
            dev + "XID_ERRORS",
            "gauge",
            "Value of the last XID error encountered.",
            lambda n: 0.0,
        ),
        (
            dev + "POWER_VIOLATION",
            "counter",
            "Throttling duration due to power constraints (in ns).",
            lambda n: 0.0,
        ),
        (
            dev + "THERMAL_VIOLATION",
            "counter",
            "Throttling duration due to thermal constraints (in ns).",
            lambda n: round(gpus.throttled_ns[host, n]),
        ),
        (
            dev + "FB_FREE",
            "gauge",
            "Framebuffer memory free (in MiB).",
            lambda n: round(MEMORY_MEBIBYTES - used[n] - _RESERVED_MEBIBYTES),
        ),
        (dev + "FB_USED", "gauge", "Framebuffer memory used (in MiB).", lambda n: round(used[n])),
        (
            dev + "FB_RESERVED",
            "gauge",
            "Framebuffer memory reserved (in MiB).",
            lambda n: _RESERVED_MEBIBYTES,
        ),
        (
            dev + "UNCORRECTABLE_REMAPPED_ROWS",
            "counter",
            "Number of remapped rows for uncorrectable errors",
            lambda n: 0.0,
        ),
        (
            dev + "CORRECTABLE_REMAPPED_ROWS",
            "counter",
            "Number of remapped rows for correctable errors",
            lambda n: 0.0,
        ),
        (
            dev + "ROW_REMAP_FAILURE",
            "gauge",
            "Whether remapping of rows has failed",
            lambda n: 0.0,
        ),
        (
            dev + "ECC_SBE_VOL_TOTAL",
            "counter",
            "Total number of single-bit volatile ECC errors.",
            lambda n: 0.0,
        ),
        (
            dev + "ECC_DBE_VOL_TOTAL",
            "counter",
            "Total number of double-bit volatile ECC errors.",
            lambda n: 0.0,
        ),
    ]


def _profiling(world: World, host: int) -> list[tuple[str, str, str, _Read]]:
    busy = world.gpus.busy[host]
    # Kernels' gaps, and what of a kernel is matrix multiplication or waits for memory.
    parts = (
        ("GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", 0.97),
        ("SM_ACTIVE", "The ratio of cycles an SM has at least 1 warp assigned.", 0.9),
        ("PIPE_TENSOR_ACTIVE", "Ratio of cycles the tensor (HMMA) pipe is active.", 0.55),
        ("DRAM_ACTIVE", "Ratio of cycles the device memory interface is active.", 0.4),
    )

    def ratio(part: float) -> _Read:
        return lambda n: round(float(busy[n]) * part, 6)

    def bytes_per_second(part: float) -> _Read:
        return lambda n: round(float(busy[n]) * part)

    return [
        *(("DCGM_FI_PROF_" + name, "gauge", text, ratio(part)) for name, text, part in parts),
        (
            "DCGM_FI_PROF_PCIE_TX_BYTES",
            "gauge",
            "The rate of data transmitted over the PCIe bus (in bytes per second).",
            bytes_per_second(4e9),
        ),
        (
            "DCGM_FI_PROF_PCIE_RX_BYTES",
            "gauge",
            "The rate of data received over the PCIe bus (in bytes per second).",
            bytes_per_second(3e9),
        ),
    ]
