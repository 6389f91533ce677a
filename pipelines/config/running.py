"""Where the embedded services of a running deployment are, told by its supervisor."""

import json
from pathlib import Path

from cluster.config import Config
from pipelines.config.load import Loaded
from pipelines.errors import ConfigError

_FILE = "services.json"


class Services(Config):
    """URLs of the broker and the database, as the configuration writes them."""

    broker_url: str
    database_url: str


def write_services(state_dir: Path, services: Services) -> None:
    """Tell other processes of this deployment where the services are."""
    path = state_dir / _FILE
    state_dir.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(services.model_dump_json())
    partial.replace(path)


def with_running_services(loaded: Loaded) -> Loaded:
    """Return the configuration with the URLs of the running embedded services in it.

    Raises
    ------
    ConfigError
        A service is ``embedded`` and nothing says where it runs: ``trimtab up`` is not running.
    """
    config = loaded.config
    if "embedded" not in (config.broker.url, config.database.url):
        return loaded
    path = loaded.state_dir / _FILE
    try:
        services = Services.model_validate(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{loaded.path}: broker or database is 'embedded' and {path} cannot be read: "
            "is `trimtab up` running?"
        ) from error
    return loaded.with_urls(
        broker_url=services.broker_url if config.broker.url == "embedded" else config.broker.url,
        database_url=(
            services.database_url if config.database.url == "embedded" else config.database.url
        ),
    )
