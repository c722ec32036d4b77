"""The CPU time of this process. A busy machine can only add to it, so the best of several tries counts."""

import time

import gevent

TRIES = 10
#: Seconds of CPU time below which a measurement says nothing.
NOTHING = 0.002


def cpu_of(work, *arguments):
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def grows_linearly(work, size):
    """Return whether, in one of several tries, twice the *size* takes at most three times as long."""
    return costs_at_most(3, lambda: work(2 * size), lambda: work(size))


def costs_at_most(factor, work, standard):
    """Return whether, in one of several tries, *work* takes at most *factor* times as long as *standard*."""
    return any(cpu_of(work) <= factor * cpu_of(standard) + NOTHING for _ in range(TRIES))


def takes_at_most(seconds, work):
    """Return whether, in one of several tries, *work* takes at most so many *seconds*."""
    return any(cpu_of(work) <= seconds for _ in range(3))


def is_idle(seconds=0.5):
    """Return whether, in one of several tries, this process does next to nothing for *seconds*."""
    return any(cpu_of(gevent.sleep, seconds) < seconds / 10 for _ in range(TRIES))
