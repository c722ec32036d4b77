"""Faults of a cluster cost no page, and double no record."""

import random
import signal

import pytest

from crawler.bench.kill import faults
from crawler.bench.kill.cluster_trial import ClusterTrial
from crawler.bench.kill.tree_site import TreeSite

#: Most of them cost no new process, so that thirty take little time.
CHEAP = (
    faults.stop_scheduler,
    faults.cut_network,
    faults.hold_commands,
    faults.hold_replies,
    faults.kill_server,
)
KINDS = (
    *(faults.kill_scheduler, *CHEAP, faults.kill_collector, *CHEAP, faults.cut_server),
    *(faults.lose_machine, *CHEAP, faults.stop_collector, *CHEAP, faults.cut_server),
    *(faults.cut_network, faults.hold_replies, faults.remove_scheduler, faults.remove_scheduler),
)


@pytest.mark.timeout(300)
def test_thirty_faults_and_two_schedulers_killed_for_good_lose_and_double_nothing(tmp_path):
    site = TreeSite(20_000, delay=0.3, grows=True)
    with site.served():
        trial = ClusterTrial(tmp_path / "t", site, random.Random(1), between=(0.0, 0.2))
        trial.run(KINDS)

    assert not trial.problems
    assert trial.faults.total() == len(KINDS) == 30
    assert (trial.lost, trial.doubled, trial.strange) == (0, 0, 0)
    assert len(site.overlaps) == trial.excepted


def test_the_signal_and_the_stack_of_a_scheduler_that_crashes_are_reported(tmp_path):
    def crash(trial):
        trial.running[0].send_signal(signal.SIGSEGV)
        trial.running[0].wait()

    site = TreeSite(250, delay=0.05)
    with site.served():
        trial = ClusterTrial(tmp_path / "t", site, random.Random(1), schedulers=1)
        trial.run([crash])

    [problem] = trial.problems
    assert "a scheduler has ended with SIGSEGV" in problem
    assert "most recent call first" in problem
