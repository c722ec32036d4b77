"""What a child does, from its start to its end."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import traceback
from contextlib import ExitStack, suppress
from typing import Any

from ...middleware.spider.chain import SpiderChain
from ...module.remote.frames import MEMORY_FD, SOCKET_FD
from .channel import Line
from .handshake import introduced
from .loop import Worker

_PR_SET_PDEATHSIG = 1


def main() -> None:
    _settle_in()
    line = Line(SOCKET_FD, MEMORY_FD)
    first = line.receive()
    if first is None:
        return
    with ExitStack() as cleanup:
        try:
            spider, middlewares = introduced(first)
            chain = SpiderChain([*middlewares, *spider.middlewares], spider)
            worker = Worker(line, chain)
            spider.open()
            cleanup.callback(spider.close)
            chain.open()
            cleanup.callback(chain.close)
        except BaseException:  # whatever it is, the crawl is told
            line.send({"unable": traceback.format_exc()})
            return
        gc.freeze()  # what is there now stays: not worth looking at again and again
        gc.enable()
        line.send({"ready": True})
        worker.work()
    line.send({"figures": _figures(chain)})


def _settle_in() -> None:
    """Keep nothing that was our parent's, and do not outlive it."""
    os.closerange(MEMORY_FD + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(SOCKET_FD, False)
    os.set_blocking(SOCKET_FD, True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    if sys.platform == "linux":
        # A callback that never ends would not see the line close.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _figures(chain: SpiderChain) -> list[list[Any]]:
    return [[*names, vars(figures)] for names, figures in chain.figures.items()]
