import gevent
from gevent.event import Event

from crawler.fetch.host_slots import HostSlots


def holder(slots, url, entered, release):
    def hold():
        with slots.slot(url):
            entered.append(url)
            release.wait()

    return gevent.spawn(hold)


def test_a_host_has_as_many_slots_as_the_limit_and_other_hosts_have_their_own():
    slots, entered, release = HostSlots(2), [], Event()
    urls = ["http://a.test/1", "http://A.test/2", "http://a.test/3", "http://b.test/"]

    greenlets = [holder(slots, url, entered, release) for url in urls]
    gevent.idle()
    assert entered == ["http://a.test/1", "http://A.test/2", "http://b.test/"]

    release.set()
    gevent.joinall(greenlets, raise_error=True)
    assert entered[-1] == "http://a.test/3"


def test_nothing_is_kept_of_a_host_without_transfers():
    slots, release = HostSlots(1), Event()
    greenlets = [holder(slots, "http://a.test/", [], release) for _ in range(3)]
    gevent.idle()

    greenlets.pop().kill()
    greenlets.pop(0).kill()
    release.set()
    gevent.joinall(greenlets, raise_error=True)

    assert not slots._hosts
    assert not slots._users
