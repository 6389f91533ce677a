"""How long one step of an inference engine takes."""

import csv
import io
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class StepTimes(Protocol):
    """Step times of one model on one kind of engine."""

    def prefill_seconds(self, tokens: float) -> float:
        """Return the time of computing one prompt's KV cache."""
        ...

    def decode_seconds(self, batch: float, context_tokens: float) -> float:
        """Return the time of one token for every sequence of a batch of this mean context."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedStepTimes:
    """A formula in place of a table; the coefficients are seconds per unit.

    The defaults are of Llama-3.1-70B in FP8 on four H200 under vLLM, fitted by relative least
    squares to the tables of aiconfigurator-core 0.12.0 (Apache-2.0), which compose measured kernel
    times. Prefill up to 33 k tokens without prefix: off by 2 % in the mean, 9 % at most. Decode
    up to a batch of 256: 3 % in the mean, 10 % at most.
    """

    prefill_base: float = 8.072e-3
    prefill_per_token: float = 4.173e-5
    prefill_per_token_squared: float = 5.160e-10
    decode_base: float = 8.707e-3
    decode_per_sequence: float = 3.919e-5
    decode_per_context_token: float = 1.325e-8

    def prefill_seconds(self, tokens: float) -> float:
        quadratic = self.prefill_per_token_squared * tokens * tokens
        return self.prefill_base + self.prefill_per_token * tokens + quadratic

    def decode_seconds(self, batch: float, context_tokens: float) -> float:
        return (
            self.decode_base
            + self.decode_per_sequence * batch
            + self.decode_per_context_token * batch * context_tokens
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimeTable:
    """Tables of AIConfigurator's form, interpolated linearly and held beyond their ends.

    Attributes
    ----------
    decode_seconds_by
        Shape (batches, contexts).
    """

    tokens: NDArray[np.float64]
    prefill_seconds_by: NDArray[np.float64]
    batches: NDArray[np.float64]
    contexts: NDArray[np.float64]
    decode_seconds_by: NDArray[np.float64]

    def prefill_seconds(self, tokens: float) -> float:
        return float(np.interp(tokens, self.tokens, self.prefill_seconds_by))

    def decode_seconds(self, batch: float, context_tokens: float) -> float:
        by_batch = [np.interp(context_tokens, self.contexts, row) for row in self.decode_seconds_by]
        return float(np.interp(batch, self.batches, by_batch))


def read_tables(prefill_csv: str, decode_csv: str) -> StepTimeTable:
    """Return the step times of a ``*_prefill.csv`` and a ``*_decode.csv``, given as text.

    Of the prefill table the rows of one prompt without a cached prefix count; of the decode table
    the contexts that every batch has.

    Raises
    ------
    ValueError
        A table lacks a column or has no such row.
    """
    prefill = sorted(
        (float(row["input_tokens"]), float(row["latency_ms"]) / 1e3)
        for row in _rows(prefill_csv, {"batch", "input_tokens", "prefix_tokens", "latency_ms"})
        if row["batch"] == "1" and row["prefix_tokens"] == "0"
    )
    cells = {
        (float(row["batch"]), float(row["context_tokens"])): float(row["step_latency_ms"]) / 1e3
        for row in _rows(decode_csv, {"batch", "context_tokens", "step_latency_ms"})
    }
    batches = sorted({batch for batch, _ in cells})
    contexts = [
        context
        for context in sorted({context for _, context in cells})
        if all((batch, context) in cells for batch in batches)
    ]
    if not prefill or not contexts:
        raise ValueError("the tables have no row of one whole prompt, or no common context")
    return StepTimeTable(
        tokens=np.array([tokens for tokens, _ in prefill]),
        prefill_seconds_by=np.array([seconds for _, seconds in prefill]),
        batches=np.array(batches),
        contexts=np.array(contexts),
        decode_seconds_by=np.array([[cells[b, c] for c in contexts] for b in batches]),
    )


def _rows(text: str, columns: set[str]) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text))
    missing = columns - set(reader.fieldnames or ())
    if missing:
        raise ValueError(f"table has no column {sorted(missing)}")
    return list(reader)
