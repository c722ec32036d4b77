from types import SimpleNamespace

import gevent

from crawler.portal.site import page_updates as module
from crawler.portal.site.page_updates import PageUpdates


def test_browsers_get_the_changes_of_a_page_until_it_is_over(monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 0.01)
    monkeypatch.setattr("crawler.portal.updates._INTERVAL", 0.0)
    monkeypatch.setattr("crawler.portal.updates._SHARE", 1e9)
    page = SimpleNamespace(queue="1", status="running")
    updates = PageUpdates(lambda _: dict(vars(page)), lambda _: page.status == "finished")
    events = updates.watch(7, 0)

    with gevent.Timeout(120):
        first = next(events)
        page.queue = "2"
        second = next(events)
        page.status = "finished"
        last = list(events)

    assert '"queue": "1"' in first
    assert '"queue": "2"' in second
    assert '"status"' not in second
    assert '"finished"' in last[0]
    assert last[-1].startswith("event: end")
    assert updates._updates == {}
