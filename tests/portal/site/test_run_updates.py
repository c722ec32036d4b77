from types import SimpleNamespace

import gevent

from crawler.frontier import UrlCounts
from crawler.portal.figures import RunFigures
from crawler.portal.site import run_updates as module
from crawler.portal.site.run_updates import RunUpdates


def figures(run):
    return RunFigures("r", run.state, "", UrlCounts(admitted=run.total), {})


def test_browsers_get_the_changes_of_a_run_until_it_is_over(monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 0.01)
    monkeypatch.setattr("crawler.portal.updates._INTERVAL", 0.0)
    monkeypatch.setattr("crawler.portal.updates._SHARE", 1e9)
    run = SimpleNamespace(state="running", total=1, is_active=True)
    updates = RunUpdates(lambda number: run, figures)
    events = updates.watch(7, 0)

    with gevent.Timeout(120):
        first = next(events)
        run.total = 2
        second = next(events)
        run.state, run.is_active = "finished", False
        last = list(events)

    assert '"queue"' in first
    assert '"controls"' not in first  # they have the secret of a session
    assert "<dt>Total</dt><dd>2</dd>" in second
    assert '"status"' not in second
    assert last[-1].startswith("event: end")
    assert "finished" in last[0]
