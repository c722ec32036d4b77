"""Names for which no name server answers: pages of other hosts do not wait for them."""

import gevent

from crawler import CurlFetch, Request

from ..fetch.dns_server import SILENCE, NameServer

DEAD = {f"dead-{n}.test": SILENCE for n in range(100)}


def test_a_hundred_names_without_an_answer_do_not_delay_a_live_one(serve):
    site = serve({"/": "page"})
    with (
        NameServer({**DEAD, "live.test": ["127.0.0.1"]}) as server,
        CurlFetch(allow_address=lambda *_: True) as fetch,
    ):
        fetch._name_options = server.options
        urls = {name: f"http://{name}:{site.port}/" for name in server.names}
        jobs = [gevent.spawn(fetch, Request(urls[name])) for name in DEAD]
        while len(set(server.asked)) < len(DEAD):
            gevent.sleep(0.001)

        assert fetch(Request(urls["live.test"])).body == b"page"

        assert not any(job.ready() for job in jobs)
        gevent.killall(jobs)
