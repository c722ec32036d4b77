"""What all tests share: gevent's patches in each process that runs tests, and how property tests draw."""

import gc
import os
import signal
import sys
import threading
from _thread import RLock  # both taken before gevent replaces them
from queue import Empty, SimpleQueue

import pytest
from gevent import monkey
from hypothesis import HealthCheck, settings

# The same examples in every run, with CI=true and without. `make test-long` draws more.
settings.register_profile(
    "short",
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow
    ],  # it looks at the wall clock, as the deadline does
)
settings.register_profile("long", settings.get_profile("short"), max_examples=2000)
settings.load_profile("short")


class Arrivals:
    """The event on which a worker of pytest-xdist waits for its next test.

    A thread that gevent does not know receives the tests, so the wait blocks the process.
    The waiter checks its queue after each wake-up, so superfluous wake-ups do no harm.
    """

    def __init__(self) -> None:
        self._wakeups = SimpleQueue()

    def set(self) -> None:
        self._wakeups.put(None)

    def clear(self) -> None:
        """Leave the wake-ups: the waiter uses them up."""

    def wait(self, timeout: float | None = None) -> bool:
        try:
            self._wakeups.get(timeout=timeout)
        except Empty:
            return False
        return True


def patch_worker() -> None:
    """Patch this process as `python -m gevent.monkey` would, except what receives the tests."""
    from execnet.gateway_base import ThreadExecModel

    ThreadExecModel.RLock = staticmethod(RLock)
    ThreadExecModel.Event = staticmethod(Arrivals)
    monkey.patch_all()


# With their bytecode kept, the many processes that tests start do not compile the crawler again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that runs the tests in the background lets them ignore SIGINT, and their children too:
# tests that interrupt a child would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

in_worker = "PYTEST_XDIST_WORKER" in os.environ
allocate_lock = threading._allocate_lock
if in_worker:
    patch_worker()


def pytest_configure(config) -> None:
    """Patch a process that runs its tests itself; with -n, it only hands them out."""
    if not in_worker and not config.getoption("numprocesses", None):
        monkey.patch_all()


def pytest_unconfigure() -> None:
    if in_worker:  # the main thread goes back to waiting for the thread that receives
        threading._allocate_lock = allocate_lock


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave the tests themselves, 400,000 objects, out of each later collection of garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long bytes for their argument: parallel processes must agree on the names of tests."""
    return argname if isinstance(val, bytes) and len(val) > 40 else None
