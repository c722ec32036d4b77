import gc

import gevent
from gevent.event import Event
from gevent.hub import Hub
from gevent.monkey import get_original

from crawler.cluster.keys import Keys
from crawler.cluster.renewals import Renewals
from crawler.frontier.durable.durations import Durations

sleep = get_original("time", "sleep")


def hubs():
    """Return the hubs of all threads that are not destroyed."""
    return {hub for hub in gc.get_objects() if isinstance(hub, Hub) and hub.loop is not None}


def test_the_thread_has_left_its_hub_when_the_renewals_are_closed(tmp_path):
    before, answered = hubs(), Event()

    def args():
        # As a lookup of a name that takes long: the hub of the thread cannot end before it.
        gevent.get_hub().threadpool.spawn(sleep, 0.3)
        return "me", "{}", ["", "", ""]

    url = f"unix://{tmp_path}/nobody-listens"
    renewals = Renewals(url, Keys("job", 2), 1.0, args, lambda *_: answered.set(), Durations())
    answered.wait()
    renewals.close()
    assert hubs() <= before
