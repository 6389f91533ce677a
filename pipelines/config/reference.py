"""The configuration's reference, made from the models so that it cannot differ from them."""

import inspect
import re
import types
import typing
from enum import Enum
from typing import Any

from pydantic_core import PydanticUndefined

from cluster.config import Config

_HEADER = """# Configuration

Every key of `trimtab.toml`, with its default; `trimtab check-config --reference` prints this page.
Keys without a default must be given. Paths are relative to the file.
"""


def reference(model: type[Config]) -> str:
    """Return Markdown with a table for each section of the configuration, in order."""
    return "\n".join([_HEADER, *_sections(model, "")])


def _sections(model: type[Config], prefix: str) -> list[str]:
    parts = []
    meanings = _meanings(model)
    rows = []
    for name, field in model.model_fields.items():
        inner, form = _inner(field.annotation)
        if inner is not None:
            heading = form.format(key=f"{prefix}{name}")
            parts += [f"## `{heading}`\n", f"{_summary(inner)}\n"]
            parts += _sections(inner, f"{prefix}{name}.")
        else:
            default = _default(field.default, field.default_factory)
            meaning = meanings.get(name, field.description or "")
            rows.append(f"| `{name}` | {_type(field.annotation)} | {default} | {meaning} |")
    table = ["| key | values | default | meaning |", "| --- | --- | --- | --- |", *rows, ""]
    return [*(table if rows else []), *parts]


def _inner(annotation: Any) -> tuple[type[Config] | None, str]:
    """Return the model that a field holds, and how its table is written."""
    if isinstance(annotation, type) and issubclass(annotation, Config):
        return annotation, "[{key}]"
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    models = [a for a in arguments if isinstance(a, type) and issubclass(a, Config)]
    if models and origin is tuple:
        return models[0], "[[{key}]]"
    if models and origin is dict:
        return models[0], "[{key}.NAME]"
    return None, ""


def _summary(model: type[Config]) -> str:
    doc = inspect.cleandoc(model.__doc__ or "").split("\n\nAttributes\n")[0]
    return " ".join(doc.split())


def _meanings(model: type[Config]) -> dict[str, str]:
    """Return the meaning of each key, from the ``Attributes`` of the docstring."""
    _, _, attributes = inspect.cleandoc(model.__doc__ or "").partition("Attributes\n----------\n")
    meanings = {}
    for match in re.finditer(r"^(\w[\w, ]*)\n((?:    .*\n?|\n)+)", attributes + "\n", re.MULTILINE):
        for name in match[1].split(","):
            meanings[name.strip()] = " ".join(match[2].split()).replace("|", "\\|")
    return meanings


def _type(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin in {typing.Union, types.UnionType}:
        return ", ".join(_type(a) for a in arguments if a is not types.NoneType)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{member.value}`" for member in annotation)
    names = {str: "text", int: "whole number", float: "number", bool: "true, false"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())


def _default(value: Any, factory: Any) -> str:
    if factory is not None:
        value = factory()
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", (), {}):
        return "none"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        value = str(value).lower()
    return f"`{', '.join(map(str, value)) if isinstance(value, tuple) else value}`"
