"""Files that a configuration names: all there and readable, told before anything starts."""

from collections.abc import Iterator
from pathlib import Path

from cluster.config import Config
from pipelines.config.load import Loaded, read_secret
from pipelines.errors import ConfigError

_SECRETS = frozenset({"password_file", "token_file", "secret_file"})


def check_files(loaded: Loaded) -> None:
    """Check every file that the configuration names.

    Raises
    ------
    ConfigError
        One cannot be read or is empty; the message names its key.
    """
    for key, path in _files(loaded.config, ""):
        try:
            read_secret(loaded.resolve(path))
        except ConfigError as error:
            raise ConfigError(f"{loaded.path}: {key}: {error}") from error


def _files(config: Config, prefix: str) -> Iterator[tuple[str, Path]]:
    for name in type(config).model_fields:
        value = getattr(config, name)
        key = f"{prefix}{name}"
        if isinstance(value, Path) and (
            name in _SECRETS or name in {"ca_file", "cert_file", "key_file"}
        ):
            yield key, value
        for part, item in _items(value):
            yield from _files(item, f"{key}{part}.")


def _items(value: object) -> Iterator[tuple[str, Config]]:
    if isinstance(value, Config):
        yield "", value
    elif isinstance(value, tuple):
        yield from ((f".{i}", item) for i, item in enumerate(value) if isinstance(item, Config))
    elif isinstance(value, dict):
        yield from ((f".{k}", item) for k, item in value.items() if isinstance(item, Config))
