"""How the catalogue's tables are written: one call a row."""

from cluster.metric import Source


def named(
    *, scales: dict[str, float] | None = None, **names: str | tuple[str, ...]
) -> dict[str, tuple[Source, ...]]:
    """Return sources by kind; a name in ``scales`` carries that factor to our unit."""
    scales = scales or {}
    return {
        kind: tuple(
            Source(name=name, scale=scales.get(kind, 1.0))
            for name in ((value,) if isinstance(value, str) else value)
        )
        for kind, value in names.items()
    }
