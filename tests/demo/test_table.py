from pipelines.demo.faults import Fault, Scripted
from pipelines.demo.table import Outcome, table

_FAULT = Fault(
    scripted=Scripted(kind="slow_gpu", title="GPU throttles"),
    component="gpu/h1:GPU-1",
    cause="slow_gpu_thermal",
    started_ns=12_000_000_000,
)


def _outcome(**fields):
    return Outcome(
        **(
            {
                "fault": _FAULT,
                "delay_seconds": 4.25,
                "component": "gpu/h1:GPU-1",
                "cause": "slow_gpu_thermal",
                "action": "adjust_batch job/pretrain micro_batches 16 -> 10",
                "objective": "job/pretrain train_step_seconds",
                "healthy": 1.0,
                "before": 1.6,
                "after": 1.05,
                "verdict": "improved",
            }
            | fields
        )
    )


def test_outcome_holds_only_when_found_acted_on_and_improved():
    assert _outcome().holds
    assert not _outcome(component="gpu/h1:GPU-2").holds
    assert not _outcome(cause="slow_gpu_power").holds
    assert not _outcome(action="").holds
    assert not _outcome(verdict="neutral").holds


def test_table_tells_the_right_component_beside_a_wrong_one():
    told = table([_outcome(component="gpu/h1:GPU-2")], first_ns=2_000_000_000).splitlines()

    assert len(told) == 3
    assert [cell.strip() for cell in told[2].strip("|").split("|")] == [
        "GPU throttles",
        "10 s",
        "4.2",
        "gpu/h1:GPU-2 (is gpu/h1:GPU-1)",
        "adjust_batch job/pretrain micro_batches 16 -> 10",
        "job/pretrain train_step_seconds",
        "1",
        "1.6",
        "1.05",
        "improved",
    ]


def test_table_of_a_fault_that_was_never_found():
    told = table([Outcome(fault=_FAULT)], first_ns=12_000_000_000).splitlines()

    assert [cell.strip() for cell in told[2].strip("|").split("|")] == [
        "GPU throttles",
        "0 s",
        "never",
        "none",
        "none",
        "-",
        "-",
        "-",
        "-",
        "none",
    ]
