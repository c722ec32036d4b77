"""Faults of a cluster cost no page, and double no record."""

import random
import signal

import pytest

from crawler.bench.kill import faults
from crawler.bench.kill.cluster_trial import ClusterTrial
from crawler.bench.kill.tree_site import TreeSite


def run(tmp_path, pages, kinds, schedulers=3):
    site = TreeSite(pages, delay=0.05)
    with site.served():
        trial = ClusterTrial(tmp_path / "t", site, random.Random(1), schedulers=schedulers)
        trial.run(kinds)
    assert not trial.problems
    assert (trial.lost, trial.doubled, trial.strange) == (0, 0, 0)
    return trial


@pytest.mark.timeout(300)
def test_each_part_may_be_killed_and_schedulers_for_good(tmp_path):
    kinds = [
        faults.remove_scheduler,
        faults.kill_collector,
        faults.cut_server,
        faults.remove_scheduler,
    ]

    trial = run(tmp_path, 250, kinds)

    assert trial.faults.total() == 4
    assert trial.site.overlaps == 0


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_thirty_faults_lose_nothing(tmp_path):
    for number in range(3):
        run(tmp_path / str(number), 1500, faults.FAULTS)


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
