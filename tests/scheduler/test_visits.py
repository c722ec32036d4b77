import gevent
import pytest
from gevent.event import Event

from crawler.buffer import Pool
from crawler.data import Request, Response
from crawler.errors import PoolClosed
from crawler.frontier import Frontier, Politeness, Scope, failed
from crawler.scheduler.memory_guard import Memory
from crawler.scheduler.page_size import LARGE
from crawler.scheduler.visits import Visits

URL = "http://site.test/"
#: Longer than any test may take.
GUARD = 10_000


@pytest.fixture
def frontier():
    politeness = Politeness(robots=False, delay=0.0, latency_factor=0.0, per_host=10)
    return Frontier(Scope(accepted_domains=["site.test"]), politeness=politeness)


@pytest.fixture
def visits(frontier):
    with gevent.Timeout(120):
        yield Visits(frontier, Memory(in_flight=1000), downloads=2)


def begun(frontier, visits, url=URL):
    """Return a visit whose page is fetched and held by the test."""
    assert frontier.admit(Request(url)) is None
    visit = visits.take()
    frontier.fetched(visit.taken, Response(url, 200, request=visit.request))
    return visit


def test_a_visit_ends_with_the_last_of_its_data(frontier, visits):
    pool = Pool(5, 1)
    visit = begun(frontier, visits)
    visits.hand(visit, "item", pool)

    visits.close(visit)
    assert not frontier.view.idle

    visits.close(pool.get()[0])
    assert frontier.view.counts().done == 1
    visits.end(GUARD)


def test_the_first_failure_is_the_outcome(frontier, visits):
    visit = begun(frontier, visits)

    visit.fail("parse")
    visit.fail("timeout")

    assert visit.outcome == failed("parse")
    visits.close(visit)
    assert frontier.view.counts().failed == {"parse": 1}


def test_what_could_not_be_handed_on_does_not_keep_a_visit_open(frontier, visits):
    pool = Pool(5, 1)
    pool.close()
    visit = begun(frontier, visits)

    with pytest.raises(PoolClosed):
        visits.hand(visit, "item", pool)
    visits.close(visit)

    assert frontier.view.idle


def test_a_request_goes_back_once_however_many_of_its_data_wait(frontier, visits):
    pool = Pool(5, 1)
    visit = begun(frontier, visits)
    for item in range(3):
        visits.hand(visit, item, pool)
    visits.close(visit)

    visits.give_back_all(pool)

    assert len(frontier.view) == 1
    assert frontier.view.counts().pending == 1
    visits.end(GUARD)


def test_there_is_room_again_when_what_was_held_is_gone(frontier, visits):
    visit = begun(frontier, visits)
    visits.weigh(visit, 2000)
    frontier.admit(Request(URL + "next"))
    waiter = gevent.spawn(visits.take)
    gevent.sleep(0)
    assert not waiter.ready()

    visits.close(visit)
    waiter.join()

    assert visits.memory.held == 0


def test_nobody_waits_for_room_that_only_waiting_visits_could_leave(frontier, visits):
    """A callback waits for another page: if that were not taken, the crawl would deadlock."""
    visit = begun(frontier, visits)
    visits.weigh(visit, 2000)
    frontier.admit(Request(URL + "next"))
    waiter = gevent.spawn(visits.take)
    gevent.sleep(0)
    assert not waiter.ready()

    with visits.waiting(visit):
        waiter.join()

    assert visits.memory.short


def test_no_more_is_taken_than_there_are_download_workers(frontier, visits):
    """A slot is released when its download ends, or when its visit ends, but only once."""
    for n in range(5):
        frontier.admit(Request(f"{URL}{n}"))
    first, second = visits.take(), visits.take()
    waiter = gevent.spawn(lambda: [visits.take() for _ in range(2)])
    gevent.idle()
    assert not waiter.ready()

    visits.end_download(first)
    visits.end_download(first)
    visits.close(first)
    gevent.idle()
    assert not waiter.ready()

    visits.close(second)
    waiter.join()
    assert len(waiter.get()) == 2


def waiting_aside(visits, visit):
    """Let another greenlet wait with a datum of *visit*; return what ends the wait."""
    back = Event()

    def wait():
        with visits.waiting(visit):
            back.wait()

    task = gevent.spawn(wait)
    gevent.sleep(0)

    def end():
        back.set()
        task.join()

    return end


def test_a_page_is_still_analysed_while_an_item_of_it_waits(frontier, visits):
    visit = begun(frontier, visits)
    visits.analyses.enter(visit.taken)

    end = waiting_aside(visits, visit)
    assert visit.taken in visits.analyses
    visits.analyses.leave(visit.taken)
    end()

    # The analysis is over: the item must not begin it again.
    assert visit.taken not in visits.analyses
    visits.close(visit)


def test_a_large_page_counts_as_heavy_only_when_none_of_its_data_waits(frontier, visits):
    visit = begun(frontier, visits)
    visit.analysis_size = LARGE
    frontier.mark_heavy(visit.taken)
    visits.analyses.enter(visit.taken)

    with visits.waiting(visit):
        end = waiting_aside(visits, visit)
        assert not visit.taken.is_heavy
    assert not visit.taken.is_heavy
    end()
    assert not visit.taken.is_heavy

    with visits.waiting(visit):
        pass
    assert visit.taken.is_heavy
    visits.analyses.leave(visit.taken)
    visits.close(visit)


def test_two_items_that_wait_do_not_hide_a_page_that_works(frontier, visits):
    pool = Pool(5, 1)
    waits, works = begun(frontier, visits), begun(frontier, visits, URL + "2")
    visits.end_download(waits)
    visits.hand(waits, "item", pool)
    frontier.admit(Request(URL + "3"))

    with visits.waiting(waits):
        end = waiting_aside(visits, waits)
        taking = gevent.spawn(visits.take)
        gevent.sleep(0)
        assert visits.memory.short
        assert not taking.ready()
        visits.close(works)
        taking.join()
        assert taking.value.request.url == URL + "3"
        end()


def test_a_worker_that_waits_takes_memory(frontier, visits):
    visit = begun(frontier, visits)

    with visits.waiting(visit):
        assert visits.memory.held > 0
    assert visits.memory.held == 0
    visits.close(visit)


def test_visits_that_all_wait_for_requests_that_nobody_takes_have_an_end(frontier, visits):
    visit, other = begun(frontier, visits), begun(frontier, visits, URL + "other")
    visits.ending = True
    end = gevent.spawn(visits.end, GUARD)
    gevent.sleep(0)
    with visits.waiting(visit):
        gevent.sleep(0)
        assert not end.ready()  # the other one may still answer it
        visits.close(other)
        end.join()
