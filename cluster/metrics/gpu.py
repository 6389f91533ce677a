"""Metrics of GPUs, as dcgm-exporter and NVML name them."""

from cluster.metric import Bad, Kind, Metric
from cluster.metrics.rows import named

_MEGA = 1e6
_MEBI = 1048576.0


def _dcgm(
    name: str,
    field: str,
    unit: str,
    *,
    kind: Kind = Kind.GAUGE,
    bad: Bad = Bad.NONE,
    scale: float = 1.0,
    highest: float = float("inf"),
    least: float = 0.1,
    moves: bool = False,
    csv: str = "",
    csv_scale: float = 1.0,
) -> Metric:
    names = {"dcgm": field} | ({"gpu_csv": csv} if csv else {})
    return Metric(
        name=name,
        kind=kind,
        unit=unit,
        bad=bad,
        highest=highest,
        least_effect_ratio=least,
        sources=named(scales={"dcgm": scale, "gpu_csv": csv_scale}, **names),
        moves=moves,
    )


METRICS = (
    _dcgm(
        "gpu_sm_clock_hertz",
        "DCGM_FI_DEV_SM_CLOCK",
        "Hz",
        scale=_MEGA,
        bad=Bad.DOWN,
        least=0.05,
        highest=1e10,
    ),
    _dcgm(
        "gpu_memory_clock_hertz",
        "DCGM_FI_DEV_MEM_CLOCK",
        "Hz",
        scale=_MEGA,
        bad=Bad.DOWN,
        least=0.05,
        highest=1e11,
    ),
    _dcgm(
        "gpu_temperature_celsius",
        "DCGM_FI_DEV_GPU_TEMP",
        "Cel",
        bad=Bad.UP,
        highest=150.0,
        csv="temp_c",
    ),
    _dcgm(
        "gpu_memory_temperature_celsius",
        "DCGM_FI_DEV_MEMORY_TEMP",
        "Cel",
        bad=Bad.UP,
        highest=150.0,
    ),
    _dcgm(
        "gpu_power_watts", "DCGM_FI_DEV_POWER_USAGE", "W", highest=5000.0, moves=True, csv="power_w"
    ),
    _dcgm(
        "gpu_energy_joules_total",
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "J",
        kind=Kind.COUNTER,
        scale=1e-3,
        moves=True,
        csv="energy_mj",
        csv_scale=1e-3,
    ),
    _dcgm(
        "gpu_utilization_ratio",
        "DCGM_FI_DEV_GPU_UTIL",
        "1",
        scale=0.01,
        highest=1.0,
        csv="gpu_util_pct",
        csv_scale=0.01,
    ),
    _dcgm(
        "gpu_memory_copy_utilization_ratio",
        "DCGM_FI_DEV_MEM_COPY_UTIL",
        "1",
        scale=0.01,
        highest=1.0,
        csv="mem_util_pct",
        csv_scale=0.01,
    ),
    _dcgm(
        "gpu_framebuffer_used_bytes",
        "DCGM_FI_DEV_FB_USED",
        "By",
        scale=_MEBI,
        csv="mem_used_mib",
        csv_scale=_MEBI,
    ),
    _dcgm("gpu_framebuffer_free_bytes", "DCGM_FI_DEV_FB_FREE", "By", scale=_MEBI),
    _dcgm("gpu_xid_last_code", "DCGM_FI_DEV_XID_ERRORS", "{code}", kind=Kind.STATE),
    _dcgm("gpu_graphics_active_ratio", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "1", highest=1.0),
    _dcgm("gpu_sm_active_ratio", "DCGM_FI_PROF_SM_ACTIVE", "1", highest=1.0, csv="sm_active"),
    _dcgm(
        "gpu_tensor_active_ratio",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "1",
        highest=1.0,
        csv="tensor_active",
    ),
    _dcgm("gpu_dram_active_ratio", "DCGM_FI_PROF_DRAM_ACTIVE", "1", highest=1.0, csv="dram_active"),
    _dcgm(
        "gpu_pcie_transmit_bytes_per_second",
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "By/s",
        csv="pcie_tx_bytes_s",
    ),
    _dcgm(
        "gpu_pcie_receive_bytes_per_second",
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "By/s",
        csv="pcie_rx_bytes_s",
    ),
    _dcgm(
        "gpu_pcie_replays_total",
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "{replay}",
        kind=Kind.COUNTER,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_power_violation_seconds_total",
        "DCGM_FI_DEV_POWER_VIOLATION",
        "s",
        kind=Kind.COUNTER,
        scale=1e-9,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_thermal_violation_seconds_total",
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "s",
        kind=Kind.COUNTER,
        scale=1e-9,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_ecc_single_bit_errors_total",
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "{error}",
        kind=Kind.COUNTER,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_ecc_double_bit_errors_total",
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "{error}",
        kind=Kind.COUNTER,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_remapped_rows_correctable_total",
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "{row}",
        kind=Kind.COUNTER,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_remapped_rows_uncorrectable_total",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "{row}",
        kind=Kind.COUNTER,
        bad=Bad.UP,
    ),
    _dcgm(
        "gpu_row_remap_failure", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "1", kind=Kind.STATE, bad=Bad.UP
    ),
    _dcgm(
        "gpu_nvlink_bandwidth_total", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "By", kind=Kind.COUNTER
    ),
    _dcgm(
        "gpu_framebuffer_total_bytes",
        "DCGM_FI_DEV_FB_TOTAL",
        "By",
        kind=Kind.STATE,
        scale=_MEBI,
        csv="mem_total_mib",
        csv_scale=_MEBI,
    ),
    _dcgm(
        "gpu_fp16_active_ratio",
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
        "1",
        highest=1.0,
        csv="fp16_active",
    ),
    _dcgm(
        "gpu_nvlink_transmit_bytes_per_second",
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "By/s",
        csv="nvlink_tx_bytes_s",
    ),
    _dcgm(
        "gpu_nvlink_receive_bytes_per_second",
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "By/s",
        csv="nvlink_rx_bytes_s",
    ),
    # A bit mask: it names reasons and measures nothing.
    _dcgm(
        "gpu_throttle_reasons",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "{mask}",
        kind=Kind.STATE,
        csv="throttle_reasons",
    ),
    Metric(
        name="gpu_bmc_temperature_celsius",
        kind=Kind.GAUGE,
        unit="Cel",
        bad=Bad.UP,
        highest=150.0,
        sources=named(bmc_csv="bmc_temp_c"),
    ),
    Metric(
        name="host_power_watts",
        kind=Kind.GAUGE,
        unit="W",
        highest=100_000.0,
        sources=named(bmc_csv="sys_power_w"),
    ),
)
