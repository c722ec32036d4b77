import pytest

from crawler.data import Headers, Request, Response
from crawler.errors import DownloadError
from crawler.frontier.hosts import robots_cache as gate_module
from crawler.frontier.hosts.host import Host
from crawler.frontier.hosts.robots_cache import RobotsCache

ORIGIN = "http://site.test"
HOME = f"{ORIGIN}/"
DAY = 86400.0
CLOSED = b"User-agent: *\nDisallow: /"
OPEN = b"User-agent: *\nDisallow: /no"


@pytest.fixture
def gate():
    return RobotsCache("crawler")


def ask(gate, origin=ORIGIN):
    return gate.ask(Host("site.test"), origin, Request(f"{origin}/first", depth=3, found_on="x"))


def reply(question, status=200, body=b"", **headers):
    return Response(question.url, status, Headers(headers), body, question)


def trouble(question, kind="connect"):
    return DownloadError("D1", question, "no", kind)


def answer(gate, *, now=0.0, origin=ORIGIN, status=200, body=b"", error=None):
    """Ask *origin* and let it answer at once."""
    question = ask(gate, origin)
    result = trouble(question, error) if error else reply(question, status, body)
    assert gate.answered(question, result, now) is None
    return gate.close(question)


def allows(gate, url=HOME, now=1.0):
    rules = gate.rules(ORIGIN, now)
    return None if rules is None else rules.allowed(gate.agent, url)


def test_an_origin_must_be_asked_before_anything_is_known_of_it(gate):
    assert gate.rules(ORIGIN, 0.0) is None

    question = ask(gate)

    assert question.url == f"{ORIGIN}/robots.txt"
    assert (question.depth, question.found_on) == (3, "x")
    assert gate.is_question(question)
    assert not gate.is_question(Request(question.url))
    assert gate.rules(ORIGIN, 0.0) is None


def test_a_question_is_one_until_it_is_closed(gate):
    question = ask(gate)

    closed = gate.close(question)

    assert (closed.host.name, closed.origin) == ("site.test", ORIGIN)
    assert not gate.is_question(question)


@pytest.mark.parametrize("status", [200, 204, 299])
def test_what_is_there_is_obeyed(gate, status):
    answer(gate, status=status, body=CLOSED)

    assert allows(gate) is False


@pytest.mark.parametrize("status", [300, 304, 400, 401, 403, 404, 410, 451])
def test_what_is_not_there_allows_everything(gate, status):
    answer(gate, status=status, body=CLOSED)

    assert allows(gate) is True


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_an_origin_that_cannot_say_leaves_nothing_known(gate, status):
    answer(gate, status=status, body=OPEN)

    assert gate.rules(ORIGIN, 1.0) is None


@pytest.mark.parametrize("kind", ["dns", "connect", "timeout", "truncated", "too_large"])
def test_nor_does_one_that_cannot_be_reached(gate, kind):
    answer(gate, error=kind)

    assert gate.rules(ORIGIN, 1.0) is None


def test_an_answer_holds_for_a_day(gate):
    answer(gate, body=OPEN, now=1000.0)

    assert allows(gate, now=1000.0 + DAY - 1) is True
    assert gate.rules(ORIGIN, 1000.0 + DAY) is None


def test_a_new_answer_takes_the_place_of_an_old_one(gate):
    answer(gate, body=OPEN, now=0.0)

    answer(gate, body=CLOSED, now=DAY)

    assert allows(gate, now=DAY + 1) is False
    assert allows(gate, now=2 * DAY - 1) is False
    assert gate.rules(ORIGIN, 2 * DAY) is None


@pytest.mark.parametrize("silence", [{"status": 503}, {"status": 429}, {"error": "timeout"}])
def test_an_old_answer_goes_on_holding_while_there_is_no_new_one(gate, silence):
    answer(gate, body=CLOSED, now=0.0)

    for n in range(5):
        now = DAY + n * 600
        assert gate.rules(ORIGIN, now) is None, "it is asked again each time"
        answer(gate, now=now, **silence)
        assert allows(gate, now=now + 1) is False


def test_a_file_that_has_gone_ends_an_old_answer(gate):
    answer(gate, body=CLOSED, now=0.0)

    answer(gate, status=404, now=DAY)

    assert allows(gate, now=DAY + 1) is True


def test_origins_are_apart(gate):
    answer(gate, body=CLOSED)
    answer(gate, origin="https://site.test", body=OPEN)
    answer(gate, origin="http://site.test:8080", status=404)

    assert allows(gate) is False
    assert gate.rules("https://site.test", 1.0).allowed("crawler", "https://site.test/")
    assert gate.rules("http://site.test:8080", 1.0).allowed("crawler", "http://site.test:8080/no")


def hops(gate, question, *locations):
    """Let each question be sent on to the next of *locations*."""
    for location in locations:
        question = gate.answered(question, reply(question, 301, location=location), now=0.0)
    return question


def test_a_hop_is_the_same_question_elsewhere(gate):
    question = ask(gate)

    hop = hops(gate, question, "https://other.test/rules")

    assert (hop.id, hop.url) == (question.id, "https://other.test/rules")
    assert gate.is_question(hop)
    assert gate.rules(ORIGIN, 1.0) is None
    gate.answered(hop, reply(hop, body=CLOSED), now=0.0)
    assert allows(gate) is False, "the answer is for who asked"
    assert gate.rules("https://other.test", 1.0) is None


def test_five_hops_are_followed_and_the_sixth_is_a_file_that_is_not_there(gate):
    fifth = hops(gate, ask(gate), "/1", "/2", "/3", "/4", "/5")
    assert fifth.url == f"{ORIGIN}/5"

    assert hops(gate, fifth, "/6") is None

    assert allows(gate) is True


def test_the_end_of_five_hops_counts(gate):
    fifth = hops(gate, ask(gate), "/1", "/2", "/3", "/4", "/5")

    gate.answered(fifth, reply(fifth, body=CLOSED), now=0.0)

    assert allows(gate) is False


def test_a_loop_is_a_file_that_is_not_there(gate):
    assert hops(gate, ask(gate), *["/robots.txt"] * 6) is None

    assert allows(gate) is True


@pytest.mark.parametrize(
    "nowhere", ["ftp://site.test/robots.txt", "file:///etc/passwd", "javascript:1", "http://["]
)
def test_a_hop_to_where_we_do_not_go_is_a_file_that_is_not_there(gate, nowhere):
    assert hops(gate, ask(gate), nowhere) is None

    assert allows(gate) is True


def test_a_redirect_without_a_place_to_go_to_is_one_too(gate):
    question = ask(gate)

    assert gate.answered(question, reply(question, 302), now=0.0) is None

    assert allows(gate) is True


@pytest.mark.parametrize("after_hop", [503, 429])
def test_trouble_at_the_end_of_a_hop_is_trouble(gate, after_hop):
    hop = hops(gate, ask(gate), "http://other.test/robots.txt")

    gate.answered(hop, reply(hop, after_hop), now=0.0)

    assert gate.rules(ORIGIN, 1.0) is None


def test_the_memory_of_answers_is_bounded_and_the_oldest_goes_first(gate, monkeypatch):
    monkeypatch.setattr(gate_module, "_MOST_BYTES", 10_000)
    origins = [f"http://site-{n}.test" for n in range(100)]

    for origin in origins:
        answer(gate, origin=origin, body=OPEN + b"\n# " + b"x" * 1000)

    known = [origin for origin in origins if gate.rules(origin, 1.0) is not None]
    assert known == origins[-9:]


def test_one_large_file_does_not_push_out_more_than_it_takes(gate, monkeypatch):
    monkeypatch.setattr(gate_module, "_MOST_BYTES", 10_000)
    for n in range(20):
        answer(gate, origin=f"http://small-{n}.test", status=404)

    for now in range(50):
        answer(gate, body=CLOSED + b"\n#" + b"x" * 4000, now=now)

    assert allows(gate) is False
    small = [gate.rules(f"http://small-{n}.test", 1.0) for n in range(20)]
    assert 15 <= sum(rules is not None for rules in small) <= 20, "asked again, it counts once"
