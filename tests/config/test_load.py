import pytest

from pipelines.config.load import BROKER_URL, load
from pipelines.config.running import Services, with_running_services, write_services
from pipelines.config.secrets import check_files
from pipelines.errors import ConfigError


@pytest.fixture
def write(tmp_path):
    def _write(config, topology=""):
        (tmp_path / "topology.toml").write_text(topology)
        path = tmp_path / "trimtab.toml"
        path.write_text(config)
        return path

    return _write


def _refusal(path):
    with pytest.raises(ConfigError) as caught:
        load(path)
    return str(caught.value)


def test_unknown_key_is_told_with_the_keys_there_are(write):
    path = write("[broker]\nurl = 'embedded'\npartition = 3\n")

    assert _refusal(path) == (
        f"{path}: broker.partition: unknown key; known are ['embedded_port', 'partitions', "
        "'replication', 'retention_hours', 'session_timeout_seconds', 'url']"
    )


def test_wrong_value_in_a_list_is_told_with_its_place(write):
    path = write(
        "[[collect.scrape]]\nname = 'a'\nurl = 'http://x'\ncell = 'c'\ncomponent = 'host/h'\n"
        "kind = 'dgcm'\n"
    )

    assert _refusal(path) == (
        f"{path}: collect.scrape.0.kind: Input should be 'dcgm', 'node_exporter', 'vllm', "
        "'sglang' or 'dynamo'"
    )


def test_unknown_key_in_a_list_is_told_with_the_keys_there_are(write):
    path = write("[[webhooks]]\nname = 'a'\nurl = 'https://x'\nsecret = 'x'\n")

    assert "webhooks.0.secret: unknown key; known are ['allow_private', 'events'" in _refusal(path)


def test_subscription_that_does_not_exist_is_refused(write):
    path = write(
        "[[collect.gnmi]]\nname = 'leaf1'\naddress = 'x:1'\ncell = 'c'\nsubscriptions = ['p']\n"
    )

    assert "gnmi target 'leaf1' names subscription 'p', known are []" in _refusal(path)


def test_file_that_is_no_toml_is_told(write):
    assert "not TOML" in _refusal(write("[broker\n"))


def test_missing_topology_is_told(write, tmp_path):
    path = write("")
    (tmp_path / "topology.toml").unlink()

    assert _refusal(path) == f"{tmp_path}/topology.toml: No such file or directory"


def test_every_fault_of_a_topology_is_told_at_once(write, tmp_path):
    path = write(
        "",
        "switches = [{name='a', cell='c', tier=1}, {name='a', cell='c', tier=1}]\n"
        "links = [{lower='b:1', upper='a:1', capacity_bits_per_second=1e9}]\n",
    )

    message = _refusal(path)

    assert "switch/a is defined 2 times" in message
    assert "link 'b:1' - 'a:1': no switch or host 'b'" in message


def test_environment_takes_the_place_of_the_broker_url(write, monkeypatch):
    monkeypatch.setenv(BROKER_URL, "kafka://h:9092")

    assert load(write("")).config.broker.bootstrap == "h:9092"


def test_running_services_stand_in_for_embedded_ones(write, tmp_path):
    loaded = load(write("[database]\nurl = 'http://db:8123'\n"))
    write_services(
        loaded.state_dir, Services(broker_url="kafka://127.0.0.1:1", database_url="http://x:2")
    )

    config = with_running_services(loaded).config

    assert (config.broker.url, config.database.url) == ("kafka://127.0.0.1:1", "http://db:8123")


def test_embedded_services_that_do_not_run_are_told(write):
    with pytest.raises(ConfigError, match="is `trimtab up` running"):
        with_running_services(load(write("")))


def test_missing_secret_is_told_with_its_key(write):
    loaded = load(write("[serve]\ntoken_file = 'nowhere'\n"))

    with pytest.raises(ConfigError, match=r"serve\.token_file: .*nowhere: secret cannot be read"):
        check_files(loaded)
