"""Where the CPU time of our crawl goes, by stage and by function."""

from __future__ import annotations

from typing import Any

from .crawl import Contender, crawled
from .measuring.child import BenchError
from .measuring.report import Report, table, text
from .sites.served_site import served
from .sites.site import Site

_NOTES = (
    "Sampled by CPU time, when the interpreter next handles signals: C code counts for the Python",
    "function that called it, the hub's own time for the code that runs next.",
    "By function: its own time, without its callees.",
)
_TARGET = "crawler.bench.contenders.sampled_crawl:crawl"


def run(shape: Site, *, concurrency: int, rests: bool = True) -> Report:
    """Crawl once with a sampler; the rows are stages and functions, in µs of CPU per page."""
    options = {"rests": rests, "hosts": shape.hosts}
    with served(shape) as site:
        measured = crawled(site, Contender("our crawl", _TARGET, options), concurrency)
        setting = {"site": str(shape), **options, "concurrency": concurrency, "server": site.server}
    stages, functions = (_costs(measured, kind) for kind in ("stages", "functions"))
    rows = {f"stage {name}": {"cpu_us": [cost]} for name, cost in stages.items()}
    rows |= {name: {"own_us": [cost]} for name, cost in functions.items()}
    return Report("profile", setting, rows, notes=_NOTES)


def _costs(measured: dict[str, Any], kind: str) -> dict[str, float]:
    """Return µs of CPU per page, the highest first."""
    counts: dict[str, int] = measured[kind]
    if not counts:
        raise BenchError("the crawl ended before a sample was taken: use more pages")
    unit = measured["cpu"] / measured["pages"] * 1e6 / sum(counts.values())
    ordered = sorted(counts.items(), key=lambda count: -count[1])
    return {name: count * unit for name, count in ordered}


def show(report: Report, functions: int) -> str:
    """Show all stages, and the *functions* with the highest cost."""
    stages, own = (_samples(report, measure) for measure in ("cpu_us", "own_us"))
    whole = sum(cost for _, cost in stages)
    lines = [(name.removeprefix("stage "), cost) for name, cost in stages]
    lines += [("", 0.0), ("by function (module:name:line)", 0.0), *own[:functions]]
    rows = [
        (name, f"{cost / whole:.1%}" if cost else "", f"{cost:.1f}" if cost else "")
        for name, cost in lines
    ]
    setting = report.setting
    hosts = f"{setting['hosts']:,} host{'s' * (setting['hosts'] > 1)}"
    rests = "" if setting["rests"] else ", without rests"
    head = f"our crawl of {setting['site']} on {hosts}{rests}, {whole:.0f} µs of CPU per page"
    return text(report, f"{head}\n{table(('by stage', 'share', 'µs per page'), rows)}")


def _samples(report: Report, measure: str) -> list[tuple[str, float]]:
    return [(name, row[measure][0]) for name, row in report.rows.items() if measure in row]
