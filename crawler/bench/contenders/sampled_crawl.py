"""Our crawl, with a sampling profiler."""

from __future__ import annotations

from typing import Any

from ..measuring.sampling import Sampler
from . import ours


def crawl(url: str, concurrency: int, **options: Any) -> dict[str, Any]:
    """Crawl as `bench crawl` does; return the samples by stage and by function."""
    sampler = Sampler()
    with sampler.running():
        ours.crawl(url, concurrency, **options)
    functions = {
        f"{module}:{name}:{line}": count
        for (module, line, name), count in sampler.functions.most_common()
    }
    return {"stages": sampler.stages, "functions": functions}
