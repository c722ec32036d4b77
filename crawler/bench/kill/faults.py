"""Faults: what may happen to the parts of a cluster while it crawls."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import gevent

from ...cluster.redis import connect
from .cluster_trial import TTL, ClusterTrial
from .proxy import Proxy

#: Bytes that a server loses at most when the end of its append-only file is cut off.
_MOST_CUT = 20_000


def kill_scheduler(trial: ClusterTrial) -> None:
    trial.faults["scheduler killed"] += 1
    trial.kill(trial.running[trial.one_of_them()])


def remove_scheduler(trial: ClusterTrial) -> None:
    """Kill a scheduler for good; the others must do its work."""
    trial.faults["scheduler removed"] += 1
    place = trial.one_of_them()
    trial.removed.add(place)
    trial.kill(trial.running[place])


def stop_scheduler(trial: ClusterTrial) -> None:
    """Freeze a scheduler until others have its shards."""
    trial.faults["scheduler stopped"] += 1
    place = trial.one_of_them()
    process = trial.running[place]
    process.send_signal(signal.SIGSTOP)
    trial.disturbances.begin(place, 2 * TTL, partial(trial.let_continue, process))


def lose_machine(trial: ClusterTrial) -> None:
    """Kill a scheduler with all that it has on its disk; another one comes in its place."""
    trial.faults["machine lost"] += 1
    place = trial.one_of_them()
    trial.kill(trial.running[place])
    shutil.rmtree(trial.folder_of(place), ignore_errors=True)


def cut_network(trial: ClusterTrial) -> None:
    """Close the connections of a scheduler, and let it have none for a while."""
    trial.faults["network cut"] += 1
    _disturb(trial, Proxy.cut)


def hold_commands(trial: ClusterTrial) -> None:
    """Let nothing that a scheduler sends arrive for a while."""
    trial.faults["commands held"] += 1
    _disturb(trial, lambda proxy: proxy.hold("commands"))


def hold_replies(trial: ClusterTrial) -> None:
    """Let a scheduler get no answer for a while: it does not know what was done."""
    trial.faults["replies held"] += 1
    _disturb(trial, lambda proxy: proxy.hold("replies"))


def stop_collector(trial: ClusterTrial) -> None:
    """Freeze the collector until its lease has run out."""
    trial.faults["collector stopped"] += 1
    if trial.collector is not None:
        trial.collector.send_signal(signal.SIGSTOP)
        gevent.spawn_later(2 * TTL, trial.let_continue, trial.collector)


def kill_collector(trial: ClusterTrial) -> None:
    trial.faults["collector killed"] += 1
    if trial.collector is not None:
        trial.kill(trial.collector)


def kill_server(trial: ClusterTrial) -> None:
    trial.faults["server killed"] += 1
    trial.server.kill()
    gevent.sleep(trial.rng.uniform(0, TTL))
    trial.server.start()


def cut_server(trial: ClusterTrial) -> None:
    """Let the server lose the end of its history, and restart it twice more."""
    trial.faults["server cut"] += 1
    base = _rewritten_bytes(trial)
    trial.server.kill()
    cut_history(trial.server.folder, base, trial.rng)
    for _ in range(2):
        trial.server.start()
        gevent.sleep(trial.rng.uniform(0, TTL))
        trial.server.kill()
    trial.server.start()


def cut_history(folder: Path, base: int, rng: random.Random) -> None:
    """
    Cut the end of the append-only file in *folder* off.

    Before Redis 7.0 it is one file, whose first *base* bytes are what it was last rewritten to.
    """
    files = (folder / "appendonlydir").glob("*.incr.aof")
    last = max(files, key=lambda path: int(path.name.split(".")[-3]), default=None)
    path = folder / "appendonly.aof" if last is None else last
    size = path.stat().st_size
    rest = size if last is not None else max(0, size - base)
    os.truncate(path, size - rng.randint(0, min(rest // 2, _MOST_CUT)))


def _rewritten_bytes(trial: ClusterTrial) -> int:
    with closing(connect(trial.server.url)) as client:
        return int(client.info("persistence")["aof_base_size"])


def _disturb(trial: ClusterTrial, how: Callable[[Proxy], None]) -> None:
    place = trial.one_of_them()
    how(trial.proxies[place])
    seconds = trial.rng.uniform(0.2, 2) * TTL
    trial.disturbances.begin(place, seconds, trial.proxies[place].restore)


#: Those that are chosen from at random.
FAULTS: tuple[Callable[[ClusterTrial], None], ...] = (
    kill_scheduler,
    lose_machine,
    stop_scheduler,
    cut_network,
    hold_commands,
    hold_replies,
    kill_collector,
    stop_collector,
    kill_server,
    cut_server,
)
