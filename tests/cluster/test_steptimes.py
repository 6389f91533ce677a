"""Step times by formula and by table."""

import pytest

from cluster.steptimes import FittedStepTimes, read_tables
from tests.paths import data_path

PREFILL = """batch,input_tokens,prefix_tokens,latency_ms
1,1000,0,50
1,1000,500,9
1,3000,0,150
2,1000,0,96
"""
DECODE = """batch,context_tokens,step_latency_ms
1,1000,8
1,2000,10
3,1000,12
3,2000,14
3,4000,99
"""


def test_a_table_is_interpolated_between_its_rows():
    table = read_tables(PREFILL, DECODE)
    assert table.prefill_seconds(2000.0) == pytest.approx(0.1)
    assert table.decode_seconds(2.0, 1500.0) == pytest.approx(0.011)


def test_a_table_is_held_beyond_its_ends():
    table = read_tables(PREFILL, DECODE)
    assert table.prefill_seconds(1.0) == 0.05
    assert table.decode_seconds(9.0, 9000.0) == 0.014


@pytest.mark.parametrize(
    ("prefill", "decode", "why"),
    [
        ("batch,latency_ms\n", DECODE, "no column"),
        (PREFILL.replace(",0,", ",1,"), DECODE, "no row of one whole prompt"),
    ],
)
def test_a_table_that_lacks_something_is_refused(prefill, decode, why):
    with pytest.raises(ValueError, match=why):
        read_tables(prefill, decode)


def test_the_formula_is_near_the_tables_it_was_fitted_to():
    folder = data_path("aiconfigurator-timing")
    name = "Llama-3.1-70B-Instruct-FP8_h200_sxm_vllm_tp4_{}.csv"
    table = read_tables(
        (folder / name.format("prefill")).read_text(), (folder / name.format("decode")).read_text()
    )
    formula = FittedStepTimes()
    for tokens in (512.0, 1000.0, 2000.0, 4000.0, 8000.0, 16000.0):
        assert formula.prefill_seconds(tokens) == pytest.approx(
            table.prefill_seconds(tokens), rel=0.1
        )
    for batch in (1.0, 8.0, 32.0, 64.0, 128.0):
        for context in (512.0, 2048.0, 8192.0):
            assert formula.decode_seconds(batch, context) == pytest.approx(
                table.decode_seconds(batch, context), rel=0.1
            )
