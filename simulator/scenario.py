"""What a simulated cluster consists of, and its constants."""

from dataclasses import dataclass, field
from typing import Literal

_GIGA = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricScenario:
    """Leaves and spines, one uplink per pair, ``hosts_per_leaf`` hosts with a NIC per GPU.

    Attributes
    ----------
    balance
        What leaves do with a flow that no rule pins: ``spray`` its packets over all uplinks by
        weight, or ``hash`` it onto one.
    source_port_rules
        Leaves have a static rule per uplink that pins a class of source ports to it.
    """

    leaves: int = 4
    spines: int = 4
    hosts_per_leaf: int = 2
    gpus_per_host: int = 8
    uplink_bits_per_second: float = 1600 * _GIGA
    nic_bits_per_second: float = 400 * _GIGA
    nic_goodput_ratio: float = 0.95
    full_weight: int = 20
    bit_error_ratio: float = 1e-8
    balance: Literal["spray", "hash"] = "spray"
    source_port_rules: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingScenario:
    """A data-parallel job on the first host of each leaf; every step ends in one ring per rail.

    Attributes
    ----------
    ring_bytes
        What each rank sends in a step, spread over its micro-batches.
    """

    job: str = "pretrain"
    micro_batches: int = 16
    micro_batch_seconds: float = 0.045
    ring_bytes: float = 13.3e9
    noise_ratio: float = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingScenario:
    """An inference service on the second host of each leaf, ``gpus_per_engine`` GPUs an engine.

    Attributes
    ----------
    prefill_engines
        How many start as prefill; the others decode.
    prompt_tokens, answer_tokens
        Means of lognormal lengths.
    max_running_requests
        Of a decode engine at start-up.
    max_total_tokens
        KV cache of an engine.
    patience_seconds
        A request that has waited this long before its first token is given up.
    """

    service: str = "chat"
    model: str = "meta-llama/Llama-3.1-70B-Instruct-FP8"
    gpus_per_engine: int = 4
    prefill_engines: int = 6
    requests_per_second: float = 32.0
    prompt_tokens: float = 2000.0
    prompt_sigma: float = 0.5
    answer_tokens: float = 125.0
    answer_sigma: float = 0.5
    max_running_requests: int = 64
    max_total_tokens: int = 200_000
    kv_bytes_per_token: float = 160e3
    patience_seconds: float = 4.0
    reinitialise_seconds: float = 5.0
    ttft_limit_seconds: float = 1.0
    tpot_limit_seconds: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A cluster to run against."""

    name: str = "first_light"
    cell: str = "pod1"
    tick_seconds: float = 0.1
    fabric: FabricScenario = field(default_factory=FabricScenario)
    training: TrainingScenario = field(default_factory=TrainingScenario)
    serving: ServingScenario = field(default_factory=ServingScenario)


SCENARIOS = {
    "first_light": Scenario(),
    # Full bisection and no room to spare: where flows go decides how fast the job is.
    "network": Scenario(
        name="network",
        fabric=FabricScenario(
            uplink_bits_per_second=800 * _GIGA, balance="hash", source_port_rules=True
        ),
    ),
}
