import pytest

from tests.kafka.apache_kafka import start


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory):
    broker = start(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.stop()
