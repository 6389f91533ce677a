"""gNMI responses of one subscription, many at once.

What has been seen in the same shape before is read by column; everything else is told to be odd,
and is decoded by itself. Both say the same of the same message.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pipelines.collect.decode import NotificationDecoder
from pipelines.collect.learned import Known, LearnedMessages
from pipelines.collect.shapes import Plan, Readings
from pipelines.collect.slots import Slots

# How many readings are planned for, at most.
_LEAST_PLANNED: Final = 20_000
_PLANS_PER_SERIES: Final = 4


class Several(NamedTuple):
    """What messages in a row said.

    Attributes
    ----------
    first, messages
        The first of them, and how many they are.
    slots
        The series that the readings' slots stand for.
    refused
        Leaves that are no readings, by reason.
    """

    first: int
    messages: int
    slots: Slots
    readings: Readings
    refused: Counter[str]


class Odd(NamedTuple):
    """A message that must be decoded by itself."""

    place: int


class _Ready(NamedTuple):
    """A run of known messages, ready to be read."""

    plan: Plan
    refused: Counter[str]
    epoch: int


class BulkDecoder:
    """Decodes the responses of one subscription."""

    def __init__(self, decoder: NotificationDecoder) -> None:
        self._learned = LearnedMessages(decoder)
        self._ready: dict[tuple[Known, ...], _Ready] = {}
        # The longest run that began with a message.
        self._begun: dict[Known, _Ready] = {}
        self._planned = 0

    def decode(self, messages: Sequence[bytes]) -> Iterator[Several | Odd]:
        """Yield what the messages say, in their order.

        An odd message must be decoded, by the decoder that this one was made with, before the next
        is asked for: it may end series.
        """
        place = 0
        while place < len(messages):
            told = self._expected(messages, place) or self._assembled(messages, place)
            if told is None:
                yield Odd(place)
                place += 1
            else:
                yield told
                place += told.messages

    def _expected(self, messages: Sequence[bytes], place: int) -> Several | None:
        """Return what the messages say if they are those that followed the first of them before."""
        known = self._learned.find(messages[place])
        ready = None if known is None else self._begun.get(known)
        if known is None or ready is None or ready.epoch != self._learned.epoch:
            return None
        plan = ready.plan
        some = messages[place : place + len(plan.sizes)]
        if list(map(len, some)) != plan.sizes:
            return None
        readings = plan.read(some)
        if not isinstance(readings, Readings):
            del self._begun[known]
            return None
        return Several(place, len(some), known.slots, readings, ready.refused)

    def _assembled(self, messages: Sequence[bytes], place: int) -> Several | None:
        run, is_new = self._run(messages, place)
        while run:
            ready = self._made_ready(run, is_new=is_new)
            if not ready.plan.is_distinct:
                run = run[: max(1, len(run) // 2)]
                continue
            readings = ready.plan.read(messages[place : place + len(run)])
            if isinstance(readings, Readings):
                return Several(place, len(run), run[0].slots, readings, ready.refused)
            is_new = True
            run = self._corrected(run, messages[place : place + len(run)], readings)
        return None

    def _corrected(
        self, run: list[Known], messages: Sequence[bytes], wrong: list[int]
    ) -> list[Known]:
        """Return what the messages really are, up to the first that is odd."""
        for number in wrong:
            known = self._learned.learn(messages[number])
            if known is None or known.slots is not run[0].slots:
                return run[:number]
            run[number] = known
        return run

    def _run(self, messages: Sequence[bytes], place: int) -> tuple[list[Known], bool]:
        """Return messages in a row that name different series; whether one of them is new."""
        run: list[Known] = []
        groups: set[bytes] = set()
        is_new = False
        for message in messages[place:]:
            known = self._learned.find(message)
            if known is None:
                known = self._learned.learn(message)
                is_new = True
            if known is None or known.group in groups:
                break
            if run and known.slots is not run[0].slots:
                break
            groups.add(known.group)
            run.append(known)
        return run, is_new

    def _made_ready(self, run: list[Known], *, is_new: bool) -> _Ready:
        key = tuple(run)
        ready = self._ready.get(key)
        if ready is None or ready.epoch != self._learned.epoch:
            refused: Counter[str] = Counter()
            for known in run:
                refused.update(known.refused)
            ready = _Ready(Plan([known.shape for known in run]), refused, self._learned.epoch)
            # What is new may not come again.
            if not is_new:
                self._keep(key, ready)
        return ready

    def _keep(self, key: tuple[Known, ...], ready: _Ready) -> None:
        self._planned += len(ready.plan.slots)
        if self._planned > _LEAST_PLANNED + _PLANS_PER_SERIES * len(self._learned.slots):
            self._ready.clear()
            self._begun.clear()
            self._planned = len(ready.plan.slots)
        self._ready[key] = ready
        if not ready.plan.is_distinct:
            return
        longest = self._begun.get(key[0])
        if longest is None or longest.epoch != ready.epoch or len(longest.plan.sizes) < len(key):
            self._begun[key[0]] = ready
