"""kill -9 at any moment costs a few fetches, never a page or an exchange, and nothing is there twice."""

import pytest

from crawler.bench.kill import kills as kill
from crawler.bench.kill import moments
from crawler.bench.kill.killed_crawl import IN_FLIGHT

SMALL = kill.SlowSite(pages=70, delay=0.02)


#: One after the other in one directory, so that a process continues what each kill has left.
EVERY_MOMENT = (
    moments.start_up,
    moments.anywhere,
    moments.recovery,
    moments.checkpoint,
    moments.shutdown,
)


def test_kills_at_every_moment_lose_nothing(monkeypatch):
    monkeypatch.setattr(kill, "KINDS", {"at every moment": EVERY_MOMENT})
    monkeypatch.setattr(kill, "_ROUND", ("at every moment",))

    report = kill.run(4, site=SMALL, seed=3)

    assert report.notes == []
    assert [str(target) for target in report.targets if not target.holds] == []
    assert sum(report.rows["at every moment"]["kills"]) >= 4
    assert "at every moment" in kill.show(report)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_three_hundred_kills_lose_nothing():
    report = kill.run(300, seed=4)

    print(kill.show(report))
    assert report.notes == []
    assert all(target.holds for target in report.targets)
    # Some of them hit work: not all were before the first page, or after the last.
    assert sum(sum(samples["refetched"]) for samples in report.rows.values()) >= IN_FLIGHT
