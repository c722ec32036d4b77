"""Where the CPU of our crawl goes, by stage and by function."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .child import Child
from .report import Report, table, text
from .shape import LINKS, Shape
from .site import served

_NOTES = (
    "Sampled by CPU time, at the next moment the interpreter looks up: C code counts for the Python",
    "function that called it, the hub's own for what runs next. By function: its own time, no callee's.",
)
#: Seconds a page may take, and the crawl in any case.
_SLOWEST, _LEAST = 0.03, 60.0


def run(shape: Shape, *, concurrency: int) -> Report:
    """Crawl once, being watched; the rows are stages and functions, in µs of CPU a page."""
    with served(shape) as site:
        arguments = {"site": asdict(site.shape), "concurrency": concurrency}
        child = Child("crawler.bench.sampling:crawl", arguments)
        measured = child.run(max(_LEAST, _SLOWEST * shape.pages))
        setting = {"pages": shape.pages, "concurrency": concurrency, "server": site.kind}
    stages, functions = (_costs(measured, kind) for kind in ("stages", "functions"))
    rows = {f"stage {name}": {"cpu_us": [cost]} for name, cost in stages.items()}
    rows |= {name: {"cpu_us": [cost]} for name, cost in functions.items()}
    return Report("profile", setting, rows, notes=_NOTES)


def _costs(measured: dict[str, Any], kind: str) -> dict[str, float]:
    """Return µs of CPU a page, the most first."""
    counts: dict[str, int] = measured[kind]
    unit = measured["cpu"] / measured["pages"] * 1e6 / sum(counts.values())
    ordered = sorted(counts.items(), key=lambda count: -count[1])
    return {name: count * unit for name, count in ordered}


def show(report: Report, functions: int) -> str:
    """Show all stages, and the first of the *functions*."""
    costs = {name: samples["cpu_us"][0] for name, samples in report.rows.items()}
    stages = {name: cost for name, cost in costs.items() if name.startswith("stage ")}
    own = [(name, cost) for name, cost in costs.items() if name not in stages][:functions]
    whole = sum(stages.values())
    lines = [(name.removeprefix("stage "), cost) for name, cost in stages.items()]
    lines += [("", 0.0), ("by function (module:name:line)", 0.0), *own]
    rows = [
        (name, f"{cost / whole:.1%}" if cost else "", f"{cost:.1f}" if cost else "")
        for name, cost in lines
    ]
    setting = report.setting
    head = (
        f"our crawl of {setting['pages']:,} pages with {LINKS} links, {whole:.0f} µs of CPU a page"
    )
    return text(report, f"{head}\n{table(('by stage', 'share', 'µs a page'), rows)}")
