"""A plan as text for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cluster.consistency import Consistency, Subscription, counted
from pipelines.plan.result import JobFacts, PlanFacts, SetFacts, Way

_TERA: Final = 1e12
_GIGA: Final = 1e9
WORDS: Final = {
    "ecmp": "ECMP, hashed 5-tuples",
    "greedy": "greedy, largest first",
    "anew": "placed anew",
    "placed": "placed together",
}


def text_of(plan: PlanFacts) -> str:
    """Return the plan in lines of at most about a hundred letters."""
    return "\n".join([*_head(plan), "", *_jobs(plan.jobs), *_sets(plan), *_notes(plan)]) + "\n"


def check_text(name: str, looked: Consistency) -> str:
    """Return what `--check` tells: each finding, and how narrow leaves and pods are."""
    lines = [str(finding) for finding in looked.findings]
    for kind, parts in (("leaves", looked.leaves), ("pods", looked.pods)):
        lines += _subscriptions(kind, parts)
    lines.append(f"{name}: {counted(looked.findings)}")
    return "\n".join(lines) + "\n"


def _head(plan: PlanFacts) -> Iterator[str]:
    fabric = plan.fabric
    tiers = " + ".join(str(n) for n in fabric.switches_by_tier)
    down = f" ({fabric.links_down} down)" if fabric.links_down else ""
    yield (
        f"{fabric.name}: {tiers} switches by tier, {fabric.nics:,} NICs, "
        f"{fabric.links:,} links between switches{down}, "
        f"{fabric.leaf_uplink_bits_per_second / _TERA:,.1f} Tbit/s up from the leaves"
    )
    for change in plan.changes:
        yield f"what if: {change}"
    yield f"wiring: {counted(plan.findings)}"
    for finding in plan.findings:
        yield f"  {finding}"


def _jobs(jobs: Sequence[JobFacts]) -> Iterator[str]:
    rows = [("job", "priority", "ranks", "phase", "sends", "flows", "Gbit/s")]
    for job in jobs:
        told = [
            (
                _span(phase.start_seconds, phase.duration_seconds, phase.period_seconds),
                ", ".join(phase.collectives),
                f"{phase.flows:,}",
                f"{phase.bits_per_second / _GIGA:,.0f}",
            )
            for phase in job.phases
        ] or [("-", "nothing over the network", "0", "0")]
        for n, phase in enumerate(told):
            own = (job.job_id, str(job.priority), f"{job.ranks:,}") if n == 0 else ("", "", "")
            rows.append((*own, *phase))
        idle = f"idle {job.idle_ratio:.0%}" if job.idle_ratio else "never idle"
        rows.append(("", "", "", idle, "", "", ""))
    yield from _table(rows, right={1, 2, 5, 6})


def _span(start: float, duration: float, period: float) -> str:
    if period <= 0.0:
        return "all the time"
    return f"{start:.3f}-{start + duration:.3f} of {period:g} s"


def _sets(plan: PlanFacts) -> Iterator[str]:
    for n, one in enumerate(plan.sets):
        yield ""
        beside = f", beside {', '.join(one.beside)}" if one.beside else ""
        yield f"{n + 1} of {len(plan.sets)}: {', '.join(one.phases)}{beside}"
        yield from _ways(one)
        yield from _certificate(one)
    if len(plan.sets) > 1 and plan.worst_load_ratio:
        yield ""
        told = ", ".join(f"{name} {ratio:.0%}" for name, ratio in plan.worst_load_ratio.items())
        yield f"highest load of a link at the worst moment of all jobs: {told}"


def _ways(one: SetFacts) -> Iterator[str]:
    jobs = list(one.ways[0].slowdown_by_job) if one.ways else []
    rows = [("", "highest load", "over 100 %", "delivered", *(f"{job} takes" for job in jobs))]
    rows += [(WORDS[way.name], *_figures(way, jobs)) for way in one.ways]
    yield from _table(rows, right=set(range(1, 4 + len(jobs))))


def _figures(way: Way, jobs: Iterable[str]) -> tuple[str, ...]:
    return (
        f"{way.highest_load_ratio:.1%}",
        f"{way.links_over:,} links",
        f"{way.delivered_ratio:.1%}",
        *(f"{way.slowdown_by_job[job]:.2f} x" for job in jobs),
    )


def _certificate(one: SetFacts) -> Iterator[str]:
    proof = one.certificate
    split = f" as {one.subflows:,} sub-flows" if one.subflows != one.flows else ""
    more = f" with those of {', '.join(one.beside)}" if one.beside else ""
    yield (
        f"certificate: no placement of these {one.flows:,} flows{split}{more} gets below "
        f"{proof.bound:.1%}; this one reaches {proof.reached_ratio:.2%} of that bound"
    )
    at = f"{proof.component}: " if proof.component else ""
    yield f"limited by: {at}{proof.words}"
    if one.moved_flows is not None:
        yield f"the what-if moves {one.moved_flows:,} of {one.flows:,} flows"


def _notes(plan: PlanFacts) -> Iterator[str]:
    for n, note in enumerate(plan.notes):
        if n == 0:
            yield ""
        yield f"note: {note}"


def _subscriptions(kind: str, parts: Sequence[Subscription]) -> Iterator[str]:
    by_ratio: dict[float, list[Subscription]] = {}
    for part in parts:
        by_ratio.setdefault(round(part.ratio, 2), []).append(part)
    for ratio, same in sorted(by_ratio.items(), reverse=True):
        first = same[0]
        names = first.name if len(same) == 1 else f"{first.name} … {same[-1].name}"
        yield (
            f"{len(same)} {kind} at {ratio:g}:1 ({names}): "
            f"{first.down_bits_per_second / _GIGA:,.0f} Gbit/s of hosts, "
            f"{first.up_bits_per_second / _GIGA:,.0f} upwards each"
        )


def _table(rows: Sequence[tuple[str, ...]], *, right: set[int]) -> Iterator[str]:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        cells = (
            text.rjust(width) if n in right else text.ljust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
