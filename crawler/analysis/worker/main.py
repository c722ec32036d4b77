"""The worker process from its start to its end."""

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
from .channel import Channel
from .handshake import accept_greeting
from .loop import Worker
from .relay import relay_output

_PR_SET_PDEATHSIG = 1


def main() -> None:
    _detach()
    channel = Channel(SOCKET_FD, MEMORY_FD)
    greeting = channel.receive()
    if greeting is None:
        return
    relay_output(channel, greeting[0]["level"])
    with ExitStack() as cleanup:
        try:
            spider, middlewares = accept_greeting(greeting)
            chain = SpiderChain([*middlewares, *spider.middlewares], spider)
            worker = Worker(channel, chain)
            spider.open()
            cleanup.callback(spider.close)
            chain.open()
            cleanup.callback(chain.close)
        except BaseException:  # whatever it is, the parent reports it
            channel.send({"unable": traceback.format_exc()})
            return
        gc.freeze()  # what exists now stays, so later collections need not look at it
        gc.enable()
        channel.send({"ready": True})
        worker.work()
    channel.send({"figures": _figures(chain)})


def _detach() -> None:
    """Close what was inherited from the parent, ignore Ctrl-C, and do not outlive the parent."""
    os.closerange(MEMORY_FD + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(SOCKET_FD, False)
    os.set_blocking(SOCKET_FD, True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    if sys.platform == "linux":
        # A callback that never ends would not notice that the socket closes.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _figures(chain: SpiderChain) -> list[list[Any]]:
    return [[*names, vars(figures)] for names, figures in chain.figures.items()]
