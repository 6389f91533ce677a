from pipelines.config.reference import reference
from pipelines.config.root import TrimtabConfig
from tests.paths import ROOT


def test_reference_in_docs_is_that_of_the_models():
    assert (ROOT / "docs" / "configuration.md").read_text() == reference(TrimtabConfig)


def test_every_section_is_in_the_reference():
    told = reference(TrimtabConfig)

    for heading in ("[broker]", "[[collect.gnmi]]", "[collect.subscriptions.NAME]", "[act.effect]"):
        assert f"## `{heading}`" in told


def test_meanings_and_values_come_from_the_models():
    told = reference(TrimtabConfig)

    assert "| `largest_body_bytes` | whole number | `33554432` |  |" in told
    assert "| `kind` | `dcgm`, `node_exporter`, `vllm`, `sglang`, `dynamo` | required |" in told
    assert "The kill switch: false stops every action." in told
