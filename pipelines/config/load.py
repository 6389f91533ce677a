"""Reading the configuration; what is wrong is told with file, key and what is allowed."""

import json
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from cluster.config import Config
from cluster.topology import Topology
from pipelines.config.root import TrimtabConfig
from pipelines.errors import ConfigError

BROKER_URL = "TRIMTAB_BROKER_URL"
DATABASE_URL = "TRIMTAB_DATABASE_URL"

T = TypeVar("T", bound=Config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A checked configuration with its topology; paths in it are absolute."""

    path: Path
    config: TrimtabConfig
    topology: Topology

    @property
    def state_dir(self) -> Path:
        return self.path.parent / self.config.deployment.state_dir

    def with_urls(self, *, broker_url: str, database_url: str) -> "Loaded":
        """Return the same configuration with other services."""
        config = self.config.model_copy(
            update={
                "broker": self.config.broker.model_copy(update={"url": broker_url}),
                "database": self.config.database.model_copy(update={"url": database_url}),
            }
        )
        return replace(self, config=config)

    def resolve(self, path: Path) -> Path:
        """Return a path of the configuration, which is relative to its file."""
        return self.path.parent / path


def load(path: Path) -> Loaded:
    """Return the configuration in a TOML file.

    ``TRIMTAB_BROKER_URL`` and ``TRIMTAB_DATABASE_URL`` in the environment take the place of the
    two URLs:
    the supervisor tells its children so where the embedded services are.

    Raises
    ------
    ConfigError
        A file cannot be read, is no TOML, or has a key or value that is not allowed.
    """
    config = load_config(path)
    topology = read_as(Topology, path.parent / config.deployment.topology_file)
    return Loaded(path=path.absolute(), config=config, topology=topology)


def load_config(path: Path) -> TrimtabConfig:
    """Return the configuration alone, without the topology it names; raises as `load`."""
    raw = _raw(path)
    for variable, section in ((BROKER_URL, "broker"), (DATABASE_URL, "database")):
        if variable in os.environ:
            raw.setdefault(section, {})["url"] = os.environ[variable]
    return _checked(TrimtabConfig, raw, path)


def read_as(model: type[T], path: Path) -> T:
    """Return what a TOML file, or a file whose name ends in ``.json``, holds; raises as `load`."""
    return _checked(model, _raw(path), path)


def read_secret(path: Path) -> str:
    """Return a secret file's content without the newline at its end.

    Raises
    ------
    ConfigError
        The file cannot be read, or is empty.
    """
    try:
        secret = path.read_text().strip()
    except OSError as error:
        raise ConfigError(f"{path}: secret cannot be read: {error.strerror}") from error
    if not secret:
        raise ConfigError(f"{path}: secret is empty")
    return secret


def _raw(path: Path) -> dict[str, Any]:
    form = "JSON" if path.suffix == ".json" else "TOML"
    try:
        text = path.read_text()
        raw = json.loads(text) if form == "JSON" else tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not {form}: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: holds no table of keys")
    return raw


def _checked(model: type[T], raw: dict[str, Any], path: Path) -> T:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(_told(error, model, path)) from error


def _told(error: ValidationError, model: type[Config], path: Path) -> str:
    lines = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"]) or "(whole file)"
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown key; known are {_known_keys(model, fault['loc'][:-1])}"
        lines.append(f"{path}: {key}: {message}")
    return "\n".join(lines)


def _known_keys(model: type[Config], location: tuple[int | str, ...]) -> list[str]:
    """Return the keys allowed at a place in the configuration."""
    schema = model.model_json_schema()
    node: dict[str, Any] = schema
    for part in location:
        node = _resolved(node, schema)
        properties = node.get("properties", {})
        if isinstance(part, int):
            node = node.get("items", {})
        elif part in properties:
            node = properties[part]
        else:
            node = node.get("additionalProperties", {})
    return sorted(_resolved(node, schema).get("properties", {}))


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "allOf" in node:
        node = node["allOf"][0]
    if "$ref" in node:
        resolved: dict[str, Any] = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return resolved
    return node
