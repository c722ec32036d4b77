"""The cookies of a host are there after its shard has changed hands."""

import gevent
import pytest

from crawler.cluster.fold import COOKIES, ShardState
from crawler.cluster.job_record import control_job
from crawler.http.set_cookie import Cookie
from crawler.testing import LoopbackSite, Reply

from .joined import join
from .shard import holder
from .tree_site import HOSTS

PAGES = 8


@pytest.fixture
def site():
    """A chain of pages, of which the first two set cookies, and the second deletes the first one."""
    cookies = [{"set-cookie": "first=1"}, {"set-cookie": "first=; max-age=0"}]
    cookies += [{"set-cookie": "kept=2; max-age=3600"}]

    def page(request):
        number = int(request.url.rpartition("/")[2])
        link = f'<a href="/{number + 1}">.</a>' if number + 1 < PAGES else ""
        return Reply(200, dict(enumerate(cookies)).get(number, {}), link, delay=0.05)

    with LoopbackSite({f"/{n}": page for n in range(PAGES)}, addresses=HOSTS) as site:
        site.first = lambda: f"http://{HOSTS[0]}:{site.port}/0"
        yield site


def test_the_next_holder_of_a_shard_sends_the_cookies_of_its_hosts(server, record, site):
    _, result = join(server, record, site)
    while len(site.requests) < PAGES // 2:
        gevent.sleep(0.005)
    control_job(server.url, "job", "stop")
    result.wait()
    before = len(site.requests)
    control_job(server.url, "job", "resume")
    _, again = join(server, record, site)
    again.wait()

    assert PAGES // 2 <= before < len(site.requests)
    sent = [hit.headers.get("cookie") for hit in site.requests]
    assert sent == [None, "first=1", None, *["kept=2"] * (len(sent) - 3)]


def test_a_cookie_is_committed_when_it_has_changed(server):
    with holder(server.url) as one:
        journal = one.open(0, "mine").journal
        cookie = Cookie("id", "1", "a.test", 80, "/", secure=False)
        for _ in range(3):
            journal.set_cookie("s", cookie)

        assert [row[0] for row in journal.batch.rows] == ["c"]
        one.commits.write()
        one._drop(one.shards[0])

        assert list(one.open(0, "next").journal.cookies) == [("s", cookie)]


def test_the_oldest_of_too_many_cookies_is_forgotten():
    state = ShardState()
    for number in range(COOKIES + 5):
        state.set_cookie(["c", "", [str(number), "x", "a.test", 80, "/", False, None]])

    assert [key[1] for key in state.cookies] == [str(n) for n in range(5, COOKIES + 5)]
