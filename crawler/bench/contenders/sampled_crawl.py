"""Our crawl, with a sampling profiler."""

from __future__ import annotations

from typing import Any

from ..measuring.sampling import Sampler
from . import ours


def crawl(shape: dict[str, Any], concurrency: int) -> dict[str, Any]:
    """Crawl as `bench crawl` does; return the samples by stage and by function too."""
    sampler = Sampler()
    with sampler.running():
        result = ours.crawl(shape, concurrency)
    functions = {
        f"{module}:{name}:{line}": count
        for (module, line, name), count in sampler.functions.most_common()
    }
    return result | {"stages": sampler.stages, "functions": functions}
