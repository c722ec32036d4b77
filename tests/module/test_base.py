"""What every module promises, whatever its kind."""

import contextlib
import dataclasses
import traceback
from collections.abc import Callable

import gevent
import pytest
from gevent.event import Event

from crawler.data import Item, Request, Response
from crawler.errors import (
    AnalyzeError,
    DownloadError,
    FetchError,
    ModuleError,
    PipelineError,
    TimeLimit,
)
from crawler.module import (
    MID,
    Analyzer,
    Counts,
    Downloader,
    ModuleSummary,
    Pipeline,
    classic_score,
)

REQUEST = Request("http://site.test/", depth=2)


@dataclasses.dataclass
class Kind:
    """A kind of module, and how to make it run a function on a datum from REQUEST."""

    cls: type
    error: type
    failure_kind: str
    datum: object
    adapt: Callable
    call: Callable

    def module(self, work=lambda: None, **identity):
        return self.cls(self.adapt(work), **identity)

    def run(self, module):
        return self.call(module, self.datum)


def as_fetch(work):
    def fetch(request):
        work()
        return Response(request.url, 200, request=request)

    return fetch


def as_parser(work):
    def parse(response):
        work()

    return parse


def as_generator(work):
    def parse(response):
        yield {"found": "before"}
        work()

    return parse


def as_processor(work):
    def process(value):
        work()
        return value

    return process


def analyze(module, datum):
    return list(module.analyze(datum))


RESPONSE = Response(REQUEST.url, 200, request=REQUEST)
ITEM = Item({"a": 1}, REQUEST)
KINDS = {
    "downloader": Kind(
        Downloader, DownloadError, "download", REQUEST, as_fetch, Downloader.download
    ),
    "analyzer": Kind(Analyzer, AnalyzeError, "parse", RESPONSE, as_parser, analyze),
    "analyzer of generators": Kind(
        Analyzer, AnalyzeError, "parse", RESPONSE, as_generator, analyze
    ),
    "pipeline": Kind(Pipeline, PipelineError, "process", ITEM, as_processor, Pipeline.send),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def figures(module):
    counts = module.counts
    return counts.called, counts.accepted, counts.completed, counts.handling


# -- counts -----------------------------------------------------------------------------------


def test_a_new_module_has_done_nothing(kind):
    module = kind.module()

    assert module.counts == Counts()
    assert figures(module) == (0, 0, 0, 0)
    assert module.score == 0


def test_a_call_that_ends_well_is_called_accepted_and_completed(kind):
    module = kind.module()

    kind.run(module)

    assert figures(module) == (1, 1, 1, 0)


def test_a_call_that_fails_is_not_completed(kind):
    def fail():
        raise OSError("no route")

    module = kind.module(fail)

    for _ in range(3):
        with pytest.raises(kind.error):
            kind.run(module)

    assert figures(module) == (3, 3, 0, 0)


@pytest.mark.parametrize("datum", [None, "http://site.test/", 5, {}, object()])
def test_a_call_with_the_wrong_datum_is_called_but_not_accepted(kind, datum):
    worked = []
    module = kind.module(lambda: worked.append(1))

    with pytest.raises(TypeError, match=f"{module.mid} takes a "):
        kind.call(module, datum)

    assert figures(module) == (1, 0, 0, 0)
    assert worked == []


def test_a_datum_of_another_kind_of_module_is_refused(kind):
    module = kind.module()

    for other in (REQUEST, RESPONSE, ITEM):
        if type(other) is not type(kind.datum):
            with pytest.raises(TypeError):
                kind.call(module, other)

    assert figures(module) == (2, 0, 0, 0)


def test_a_call_under_way_is_handling(kind):
    go = Event()
    module = kind.module(lambda: go.wait(timeout=120))

    calls = [gevent.spawn(kind.run, module) for _ in range(3)]
    gevent.idle()
    assert figures(module) == (3, 3, 0, 3)
    assert module.score >= 3
    go.set()
    gevent.joinall(calls, timeout=120, raise_error=True)

    assert figures(module) == (3, 3, 3, 0)


def test_counts_are_exact_with_many_callers(kind):
    turns = iter(range(2000))

    def work():
        gevent.sleep(0)
        if next(turns) % 4 == 0:
            raise OSError("every fourth")

    module = kind.module(work)

    def caller():
        for _ in range(40):
            with contextlib.suppress(ModuleError):
                kind.run(module)

    gevent.joinall([gevent.spawn(caller) for _ in range(50)], timeout=120, raise_error=True)

    assert figures(module) == (2000, 2000, 1500, 0)


def test_counts_cleared_during_a_call_never_go_below_zero(kind):
    go = Event()
    module = kind.module(lambda: go.wait(timeout=120))
    call = gevent.spawn(kind.run, module)
    gevent.idle()

    module.clear()
    assert figures(module) == (0, 0, 0, 0)
    go.set()
    call.get(timeout=120)

    assert module.counts == Counts()
    kind.run(module)
    assert figures(module) == (1, 1, 1, 0)


# -- exceptions of user code ------------------------------------------------------------------


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class NoText(Exception):
    def __str__(self):
        return 5  # noqa: PLE0307 - on purpose


def fail_with(error):
    def user_function():
        raise error

    return user_function


def recurse():
    return recurse()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("bad page"), "ValueError: bad page"),
        (KeyError("title"), "KeyError: 'title'"),
        (ValueError(), "ValueError"),
        (SystemExit(3), "SystemExit: 3"),
        (gevent.Timeout(5, False), "Timeout"),
        (Unprintable(), "Unprintable: (its text cannot be printed)"),
        (NoText(), "NoText: (its text cannot be printed)"),
        (AssertionError("really"), "AssertionError: really"),
        (MemoryError(), "MemoryError"),
        (TimeLimit(2.5), "TimeLimit: took longer than 2.5 s"),
        (type("Own", (BaseException,), {})("own"), "Own: own"),
    ],
)
def test_any_exception_of_user_code_becomes_the_error_of_its_module(kind, error, reason):
    module = kind.module(fail_with(error))

    with pytest.raises(kind.error) as caught, gevent.Timeout(120):
        kind.run(module)

    assert caught.value.request is REQUEST
    assert caught.value.module == str(module.mid)
    assert caught.value.reason.startswith(reason)
    assert caught.value.__cause__ is error
    last = traceback.extract_tb(caught.value.__cause__.__traceback__)[-1]
    assert last.name == "user_function"
    assert figures(module) == (1, 1, 0, 0)


@pytest.mark.parametrize("error", [StopIteration("over"), GeneratorExit("closed")])
def test_the_signals_of_generators_are_failures_like_others(kind, error):
    module = kind.module(fail_with(error))

    with pytest.raises(kind.error) as caught:
        kind.run(module)

    # Python or the module may have wrapped it, but nothing is lost.
    printed = "".join(traceback.format_exception(caught.value))
    assert f"{type(error).__name__}: {error}" in printed
    assert "user_function" in printed
    assert caught.value.request is REQUEST
    assert figures(module) == (1, 1, 0, 0)
    assert module.counts.failing > 0


def test_a_function_that_calls_itself_for_ever_is_a_failure_like_others(kind):
    module = kind.module(recurse)

    with pytest.raises(kind.error, match="RecursionError") as caught:
        kind.run(module)

    assert isinstance(caught.value.__cause__, RecursionError)
    assert figures(module) == (1, 1, 0, 0)


@pytest.mark.parametrize("error", [gevent.GreenletExit(), KeyboardInterrupt()])
def test_the_end_of_the_greenlet_passes_through_and_is_not_a_failure(kind, error):
    module = kind.module(fail_with(error))

    with pytest.raises(type(error)) as caught:
        kind.run(module)

    assert caught.value is error
    assert figures(module) == (1, 1, 0, 0)
    assert module.counts.failing == 0


def test_a_killed_call_leaves_the_counts_balanced(kind):
    module = kind.module(Event().wait)
    call = gevent.spawn(kind.run, module)
    gevent.idle()
    assert module.counts.handling == 1

    call.kill(timeout=120)

    assert isinstance(call.value, gevent.GreenletExit)
    assert figures(module) == (1, 1, 0, 0)


def test_a_killed_call_does_not_count_against_the_module(kind):
    fates = [OSError("no route"), gevent.GreenletExit()]

    def work():
        raise fates.pop(0)

    module = kind.module(work)
    with pytest.raises(kind.error):
        kind.run(module)
    failing, latency = module.counts.failing, module.counts.latency
    with pytest.raises(gevent.GreenletExit):
        kind.run(module)

    assert (module.counts.failing, module.counts.latency) == (failing, latency)


@pytest.mark.parametrize(
    ("error", "failure_kind"),
    [
        (FetchError("dns", "no such host"), "dns"),
        (TimeoutError("slow"), "timeout"),
        (gevent.Timeout(5), "timeout"),
        (TimeLimit(5), "timeout"),
        (OSError("no route"), None),
    ],
)
def test_the_kind_of_a_failure_is_the_finest_known(kind, error, failure_kind):
    with pytest.raises(kind.error) as caught:
        kind.run(kind.module(fail_with(error)))

    assert caught.value.kind == (failure_kind or kind.failure_kind)


# -- identity ---------------------------------------------------------------------------------


def test_modules_number_themselves(kind):
    one, other = kind.module(), kind.module()

    assert one.mid.letter == other.mid.letter == kind.cls.letter
    assert other.mid.serial == one.mid.serial + 1


def test_a_module_may_be_given_its_id_as_text_or_as_an_object(kind):
    text = f"{kind.cls.letter}7|10.0.0.5:9000"

    assert str(kind.module(mid=text).mid) == text
    assert kind.module(mid=MID.parse(text)).mid == MID.parse(text)


@pytest.mark.parametrize("text", ["D1", "A1", "P1"])
def test_the_id_of_another_kind_is_refused(kind, text):
    if text[0] == kind.cls.letter:
        assert str(kind.module(mid=text).mid) == text
    else:
        with pytest.raises(ValueError, match=f"{text} is not the id of a {kind.cls.__name__}"):
            kind.module(mid=text)
        with pytest.raises(ValueError, match="is not the id"):
            kind.module(mid=MID.parse(text))


@pytest.mark.parametrize("text", ["", "127.0.0.1", "D", "D1|", "M1", "D01"])
def test_an_illegal_id_is_refused(kind, text):
    with pytest.raises(ValueError, match="illegal module"):
        kind.module(mid=text)


@pytest.mark.parametrize("score", [None, 5, "classic_score"])
def test_a_score_that_is_not_a_function_is_refused(kind, score):
    with pytest.raises(ValueError, match="score must be a function of Counts"):
        kind.module(score=score)


def test_a_module_prints_its_id_and_its_counts(kind):
    go = Event()
    letter = kind.cls.letter
    module = kind.module(lambda: go.wait(timeout=120), mid=f"{letter}7")
    call = gevent.spawn(kind.run, module)
    gevent.idle()

    assert repr(module) == f"<{kind.cls.__name__} {letter}7, 1 handling, 0/1 completed>"
    go.set()
    call.get(timeout=120)
    assert repr(module) == f"<{kind.cls.__name__} {letter}7, 0 handling, 1/1 completed>"


def test_a_summary_does_not_change_later(kind):
    letter = kind.cls.letter
    module = kind.module(mid=f"{letter}7", score=classic_score)
    kind.run(module)

    summary = module.summary()
    kind.run(module)

    assert summary == ModuleSummary(f"{letter}7", 1, 1, 1, 0, 7, summary.extra)
    assert module.summary() == ModuleSummary(f"{letter}7", 2, 2, 2, 0, 14, summary.extra)
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.called = 5


# -- scores -----------------------------------------------------------------------------------


def test_the_score_of_a_module_is_computed_by_its_function_from_its_counts(kind):
    module = kind.module(score=lambda counts: counts.called * 100)

    kind.run(module)

    assert module.score == 100
