"""
A sampling profiler: it records the running function at regular intervals of CPU time.

A kernel timer counts the CPU time of this process only (ITIMER_PROF). The interpreter handles its
signal as soon as it can, in the greenlet that runs. So C code, such as libcurl's and the parser's,
counts for the Python function that called it, and the hub's own time for the code that runs next.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: CPU seconds between samples; the kernel may round them up to its own tick.
_INTERVAL = 0.002

#: The stage of each package, module or function. The innermost one on the stack counts; modules
#: that are not listed (url, data, most of the frontier) count for their callers.
STAGES = {
    "crawler.fetch": "fetch",
    "crawler.http.content_coding": "decode",
    "crawler.charset": "decode",
    "crawler.data:text": "decode",
    "crawler.data:encoding": "decode",
    "crawler.spider": "parse and links",
    "crawler.spider.resolve_href": "resolve",
    "crawler.frontier.frontier:admit": "admit: scope, seen, traps",
    "crawler.frontier.frontier:admit_many": "admit: scope, seen, traps",
    "crawler.frontier.frontier:take": "frontier: take and settle",
    "crawler.frontier.frontier:fetched": "frontier: take and settle",
    "crawler.frontier.frontier:settle": "frontier: take and settle",
    "crawler.middleware": "middlewares",
    "crawler.compose": "middlewares",
    "crawler.module": "modules and registrar",
    "crawler.buffer": "pools and scheduler",
    "crawler.scheduler": "pools and scheduler",
    "crawler.feed": "feeds",
}
REST = "rest"


class Sampler:
    """Counts samples by stage, and by the function that was running."""

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.functions: Counter[tuple[str, int, str]] = Counter()

    def take(self, _signal: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        code = frame.f_code
        self.functions[str(frame.f_globals.get("__name__")), code.co_firstlineno, code.co_name] += 1
        self.stages[stage_of(frame)] += 1

    @contextmanager
    def running(self) -> Iterator[None]:
        before = signal.signal(signal.SIGPROF, self.take)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def stage_of(frame: FrameType | None) -> str:
    while frame is not None:
        stage = _stage(str(frame.f_globals.get("__name__")), frame.f_code.co_name)
        if stage is not None:
            return stage
        frame = frame.f_back
    return REST


def _stage(module: str, function: str) -> str | None:
    """Return the stage of a function: by its name, its module, or the packages around it."""
    stage = STAGES.get(f"{module}:{function}")
    while stage is None and module:
        stage = STAGES.get(module)
        module = module.rpartition(".")[0]
    return stage
