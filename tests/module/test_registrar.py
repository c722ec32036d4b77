import contextlib
import random
import time
from collections import Counter

import gevent
import pytest
from gevent.event import Event

from crawler.data import Request, Response
from crawler.errors import ModuleError, NoModule
from crawler.module import (
    MID,
    Analyzer,
    Downloader,
    Module,
    Pipeline,
    Registrar,
    classic_score,
)

from ..cpu_time import is_idle, takes_at_most

REQUEST = Request("http://site.test/")


def answer(request):
    return Response(request.url, 200, request=request)


def downloader(fetch=answer, **identity):
    return Downloader(fetch, **identity)


def analyzer(**identity):
    return Analyzer(lambda response: None, **identity)


def registrar(*modules):
    result = Registrar()
    for module in modules:
        result.register(module)
    return result


def share(registrar, calls, workers=1):
    """Return how many of *calls*, made by *workers* at a time, each downloader got."""
    got = Counter()
    left = iter(range(calls))

    def work():
        for _ in left:
            module = registrar.get(Downloader)
            got[module] += 1
            with contextlib.suppress(ModuleError):
                module.download(REQUEST)
            gevent.sleep(0)

    gevent.joinall([gevent.spawn(work) for _ in range(workers)], timeout=120, raise_error=True)
    return got


def let_others_run(times):
    """Take as long as so many turns of the hub: time that no busy machine stretches."""
    for _ in range(times):
        gevent.sleep(0)


# -- registering ------------------------------------------------------------------------------


def test_modules_are_registered_by_kind():
    d, a, p = downloader(), analyzer(), Pipeline()

    modules = registrar(d, a, p)

    assert (modules.get(Downloader), modules.get(Analyzer), modules.get(Pipeline)) == (d, a, p)
    assert len(modules) == 3


@pytest.mark.parametrize("module", [None, "D1", MID("D", 1), Downloader, object()])
def test_an_object_that_is_not_a_module_is_refused(module):
    modules = Registrar()

    with pytest.raises(ValueError, match="only a module can be registered"):
        modules.register(module)

    assert len(modules) == 0


def test_a_second_module_of_the_same_id_is_refused_and_the_first_stays():
    first, second = downloader(mid="D7"), downloader(mid="D7")
    modules = registrar(first)

    for module in (first, second):
        with pytest.raises(ValueError, match="D7 is registered already"):
            modules.register(module)

    assert modules.all(Module) == [first]
    assert modules.get(Downloader) is first


def test_the_address_is_part_of_the_id():
    modules = registrar(downloader(mid="D7"), downloader(mid="D7|10.0.0.5:9000"))

    assert len(modules) == 2


def test_all_are_listed_by_kind_and_in_the_order_of_their_ids():
    ids = ["P1", "D10", "A2", "D2", "D2|10.0.0.1:80", "A1"]
    kinds = {"D": downloader, "A": analyzer, "P": Pipeline}
    modules = registrar(*[kinds[mid[0]](mid=mid) for mid in ids])

    assert [str(m.mid) for m in modules.all(Downloader)] == ["D2", "D2|10.0.0.1:80", "D10"]
    assert [str(m.mid) for m in modules.all(Analyzer)] == ["A1", "A2"]
    assert repr(modules) == "<Registrar D2, D2|10.0.0.1:80, D10, A1, A2, P1>"


def test_a_list_of_modules_is_the_callers_own():
    modules = registrar(downloader())

    modules.all(Downloader).clear()

    assert len(modules.all(Downloader)) == 1


def test_an_empty_registrar_says_so():
    assert repr(Registrar()) == "<Registrar empty>"
    assert Registrar().all(Module) == []


@pytest.mark.parametrize("form", [str, lambda mid: mid])
def test_unregister_forgets_the_module_and_returns_it(form):
    d = downloader()
    modules = registrar(d)

    assert modules.unregister(form(d.mid)) is d

    assert len(modules) == 0
    with pytest.raises(NoModule):
        modules.get(Downloader)
    with pytest.raises(NoModule, match=f"no module {d.mid} is registered"):
        modules.unregister(form(d.mid))


@pytest.mark.parametrize("mid", ["", "D", "D1|", "M1", "D1|127.0.0.1:-1"])
def test_unregister_refuses_an_illegal_id(mid):
    with pytest.raises(ValueError, match="illegal module"):
        Registrar().unregister(mid)


def test_a_module_may_come_back():
    d = downloader()
    modules = registrar(d)
    modules.unregister(d.mid)

    modules.register(d)

    assert modules.get(Downloader) is d


def test_an_unregistered_module_finishes_its_calls_in_flight():
    go = Event()

    def fetch(request):
        go.wait(timeout=120)
        return answer(request)

    d = downloader(fetch)
    modules = registrar(d)
    call = gevent.spawn(d.download, REQUEST)
    gevent.idle()

    modules.unregister(d.mid)
    go.set()

    assert call.get(timeout=120).status == 200
    assert d.counts.completed == 1


def test_clear_forgets_every_module():
    modules = registrar(downloader(mid="D1"), analyzer())

    modules.clear()

    assert repr(modules) == "<Registrar empty>"
    with pytest.raises(NoModule):
        modules.get(Downloader)
    modules.register(downloader(mid="D1"))
    assert len(modules) == 1


# -- getting ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name"), [(Downloader, "downloader"), (Analyzer, "analyzer"), (Pipeline, "pipeline")]
)
def test_get_of_a_kind_without_modules_names_the_kind(kind, name):
    others = [m for m in (downloader(), analyzer(), Pipeline()) if not isinstance(m, kind)]

    with pytest.raises(NoModule, match=f"no {name} is registered"), gevent.Timeout(120):
        registrar(*others).get(kind)


@pytest.mark.parametrize("kind", [None, "D", "downloader", int, Module])
def test_get_of_a_class_that_is_not_a_kind_is_refused(kind):
    with pytest.raises(ValueError, match="is not a kind of module"):
        registrar(downloader()).get(kind)


@pytest.mark.parametrize("scores", [(0, 5), (5, 0), (0, 5, 3), (3, 0, 5), (5, 3, 0), (2, 1, 3)])
def test_the_lowest_score_is_chosen_wherever_it_stands_even_if_it_is_zero(scores):
    modules = [downloader(score=lambda counts, score=score: score) for score in scores]
    lowest = modules[scores.index(min(scores))]

    for _ in range(2):
        assert [registrar(*modules).get(Downloader) for _ in range(3)] == [lowest] * 3
        modules.reverse()


def test_a_score_may_be_negative_or_infinite():
    low, high = (downloader(score=lambda counts, s=s: s) for s in (-1.0, float("inf")))

    assert registrar(high, low).get(Downloader) is low


def test_equals_take_turns():
    modules = [downloader() for _ in range(3)]
    chooser = registrar(*modules)

    assert [chooser.get(Downloader) for _ in range(9)] == modules * 3


def test_the_kinds_take_turns_apart():
    d1, d2, a1, a2 = downloader(), downloader(), analyzer(), analyzer()
    chooser = registrar(d1, d2, a1, a2)

    chosen = [chooser.get(kind) for kind in (Downloader, Analyzer) * 2]

    assert chosen == [d1, a1, d2, a2]


def test_each_choice_computes_each_score_once_and_none_for_a_single_module():
    asked = []

    def score(counts):
        asked.append(counts)
        return 0.0

    chooser = registrar(*[downloader(score=score) for _ in range(5)])
    chooser.get(Downloader)
    assert len(asked) == 5

    asked.clear()
    registrar(downloader(score=score)).get(Downloader)
    assert asked == []


def test_choosing_among_many_takes_little_time():
    chooser = registrar(*[downloader() for _ in range(100)])

    # About 10 ms; a second would mean that the cost grows with the number of past calls.
    assert takes_at_most(1, lambda: [chooser.get(Downloader) for _ in range(200)])


def test_work_is_shared_by_what_is_in_flight():
    def slow(request):
        let_others_run(40)
        return answer(request)

    def fast(request):
        let_others_run(10)
        return answer(request)

    slow_one, fast_one = downloader(slow), downloader(fast)

    got = share(registrar(slow_one, fast_one), calls=200, workers=8)

    assert got[fast_one] > 1.5 * got[slow_one]
    assert got[slow_one] > 0


# -- modules that join late or fail -----------------------------------------------------------


def test_a_module_that_joins_late_is_not_flooded():
    def fetch(request):
        let_others_run(5)
        return answer(request)

    veterans = [downloader(fetch) for _ in range(2)]
    chooser = registrar(*veterans)
    share(chooser, calls=300, workers=6)

    late = downloader(fetch)
    chooser.register(late)
    got = share(chooser, calls=300, workers=6)

    assert 60 <= got[late] <= 140


def test_by_the_classic_score_a_module_that_joins_late_gets_everything():
    veteran = downloader(score=classic_score)
    chooser = registrar(veteran)
    share(chooser, calls=50)

    late = downloader(score=classic_score)
    chooser.register(late)
    got = share(chooser, calls=50)

    assert got[late] == 50


def failing(request):
    raise OSError("no route")


@pytest.mark.parametrize("workers", [2, 16, 64, 200])
def test_a_module_that_fails_at_once_does_not_attract_the_work(workers):
    def fetch(request):
        gevent.sleep(0.002)
        return answer(request)

    good, bad = downloader(fetch), downloader(failing)

    got = share(registrar(bad, good), calls=600, workers=workers)

    assert got[bad] < 30
    assert good.counts.completed == got[good] > 570


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def test_a_module_that_failed_gets_another_chance_after_some_time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("crawler.module.score.monotonic", clock)
    works = False

    def fetch(request):
        if not works:
            raise OSError("no route")
        return answer(request)

    patient, recovering = downloader(), downloader(fetch)
    chooser = registrar(recovering, patient)
    first = share(chooser, calls=100)
    assert first[recovering] == 1

    clock.now += 600
    works = True
    second = share(chooser, calls=100)

    assert second[recovering] == second[patient] == 50


def test_a_module_that_recovers_under_load_gets_work_again(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("crawler.module.score.monotonic", clock)
    works = False

    def fetch(request):
        clock.now += 0.5
        gevent.sleep(0)
        if not works:
            raise OSError("no route")
        return answer(request)

    def steady(request):
        clock.now += 0.5
        gevent.sleep(0)
        return answer(request)

    recovering = downloader(fetch)
    chooser = registrar(recovering, downloader(steady))
    share(chooser, calls=300, workers=4)

    works = True
    share(chooser, calls=300, workers=4)
    got = share(chooser, calls=300, workers=4)

    assert got[recovering] > 75


# -- waiting ----------------------------------------------------------------------------------


def test_get_waits_for_a_module_to_arrive():
    modules = Registrar()
    waiters = [gevent.spawn(modules.get, Downloader, timeout=120) for _ in range(5)]
    waiters += [gevent.spawn(modules.get, Analyzer, timeout=120) for _ in range(5)]
    gevent.idle()
    assert not any(waiter.ready() for waiter in waiters)

    d, a = downloader(), analyzer()
    modules.register(d)
    gevent.joinall(waiters[:5], timeout=120, raise_error=True)
    assert [waiter.value for waiter in waiters] == [d] * 5 + [None] * 5
    modules.register(a)
    gevent.joinall(waiters, timeout=120, raise_error=True)

    assert [waiter.value for waiter in waiters[5:]] == [a] * 5


def test_a_module_that_left_before_the_waiter_ran_is_not_returned():
    modules = Registrar()
    waiter = gevent.spawn(modules.get, Downloader, timeout=120)
    gevent.idle()

    fleeting, lasting = downloader(), downloader()
    modules.register(fleeting)
    modules.unregister(fleeting.mid)
    gevent.idle()
    assert not waiter.ready()
    modules.register(lasting)

    assert waiter.get(timeout=120) is lasting


def test_get_waits_no_longer_than_its_timeout_whatever_else_registers():
    modules = Registrar()
    waiter = gevent.spawn(modules.get, Downloader, timeout=0.1)

    began = time.monotonic()
    while not waiter.ready() and time.monotonic() - began < 30:
        modules.register(analyzer())
        gevent.sleep(0.01)

    assert waiter.ready()
    assert time.monotonic() - began > 0.05
    with pytest.raises(NoModule):
        waiter.get(timeout=120)


def test_waiting_costs_no_cpu():
    modules = Registrar()
    waiters = [gevent.spawn(modules.get, Downloader, timeout=120) for _ in range(20)]
    gevent.idle()

    idle = is_idle()

    gevent.killall(waiters, timeout=120)
    assert idle


# -- all at once ------------------------------------------------------------------------------


def test_modules_come_and_go_while_others_choose():
    modules = Registrar()
    steps = 600
    kinds = {Downloader: downloader, Analyzer: analyzer, Pipeline: Pipeline}
    registered = {}
    chance = random.Random(7)

    def register():
        for n in range(steps):
            kind = chance.choice(list(kinds))
            module = kinds[kind](mid=MID(kind.letter, n))
            modules.register(module)
            registered[module.mid] = module
            if n % 3 == 0:
                gevent.sleep(0)

    def unregister():
        for _ in range(steps):
            if registered:
                mid = chance.choice(list(registered))
                assert modules.unregister(mid) is registered.pop(mid)
            gevent.sleep(0)

    def get():
        for _ in range(steps):
            kind = chance.choice(list(kinds))
            with contextlib.suppress(NoModule):
                module = modules.get(kind)
                assert registered[module.mid] is module
                assert isinstance(module, kind)
            gevent.sleep(0)

    workers = [gevent.spawn(function) for function in (register, unregister, get, get)]
    gevent.joinall(workers, timeout=120, raise_error=True)

    assert all(worker.successful() for worker in workers)
    assert sorted(registered) == [module.mid for module in modules.all(Module)]
