"""RobotsCache: what the robots.txt of each origin says, and which are being fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL, ModuleError
from ...http.redirect import is_redirect
from ...http.robots_txt import Robots
from .host import Host

#: Seconds an answer holds (RFC 9309: no longer than a day).
_LIFETIME = 86400.0
#: Seconds an expired answer still holds while the host does not give a new one.
_EXTENSION = 300.0
#: How many redirects a robots.txt may take.
_MAX_HOPS = 5
#: How many bytes of robots.txt are remembered (their rules take eight times as much memory),
#: and the least that each counts for; the oldest is forgotten first, and fetched again when needed.
_MOST_BYTES = 32 * 2**20
_LEAST_BYTES = 256


class _Answer(NamedTuple):
    expires: float
    robots: Robots
    size: int


class RobotsFacts(NamedTuple):
    """The robots.txt of *origin*, which holds for *seconds*; one that is missing is empty."""

    origin: str
    seconds: float
    body: bytes


@dataclass(frozen=True, slots=True)
class RobotsQuestion:
    """*host* waits for the robots.txt of *origin*."""

    host: Host
    origin: str


class RobotsCache:
    """
    Knows the rules of each origin, and which are being fetched; the frontier fetches them.

    *on_answer* is called with each new answer.
    """

    def __init__(self, agent: str, on_answer: Callable[[RobotsFacts], object]) -> None:
        self.agent = agent
        self._answers: dict[str, _Answer] = {}
        self._size = 0
        self._asked: dict[str, RobotsQuestion] = {}
        self._on_answer = on_answer

    def rules(self, origin: str, now: float) -> Robots | None:
        """Return the rules of *origin*; None if they must be fetched."""
        answer = self._answers.get(origin)
        return answer.robots if answer is not None and answer.expires > now else None

    def allows(self, host: Host, request: Request, now: float) -> bool | None:
        """Return whether *request* of *host* may be fetched; None if its origin must be asked first."""
        rules = self.rules(urls.origin(request.url), now)
        if rules is None:
            return None
        self.obey(host, rules)
        return rules.allowed(self.agent, request.url)

    def obey(self, host: Host, rules: Robots) -> None:
        """Apply the Crawl-delay of an origin; if a host has several origins, the longest counts."""
        delay = rules.crawl_delay(self.agent)
        if delay is not None:
            host.crawl_delay = max(delay, host.crawl_delay or 0.0)

    def ask(self, host: Host, origin: str, first: Request) -> Request:
        """Return the request for the robots.txt of *origin*, for which the *first* one of *host* waits."""
        question = Request(f"{origin}/robots.txt", depth=first.depth, found_on=first.found_on)
        self._asked[question.id] = RobotsQuestion(host, origin)
        return question

    def is_question(self, request: Request) -> bool:
        return request.id in self._asked

    def answered(
        self, request: Request, result: Response | ModuleError, now: float
    ) -> Request | None:
        """
        Take the *result* of a fetch of robots.txt; return the next hop if it is a redirect.

        There is no answer when the origin cannot be reached, or responds with 429 or 5xx; an
        old answer then holds for a while longer.
        """
        question = self._asked[request.id]
        if isinstance(result, Response) and is_redirect(result):
            hop = _hop(request, result)
            if hop is not None:
                return hop
        answer = _read(result, now)
        if answer is not None:
            self._remember(question.origin, answer)
            self._on_answer(RobotsFacts(question.origin, _LIFETIME, _file(result)))
        elif question.origin in self._answers:
            old = self._answers[question.origin]
            self._remember(question.origin, old._replace(expires=now + _EXTENSION))
        return None

    def recall(self, origin: str, expires: float, body: bytes) -> None:
        """Use an answer that an earlier process got."""
        size = max(len(body), _LEAST_BYTES)
        self._remember(origin, _Answer(expires, Robots.parse(body), size))

    def close(self, request: Request) -> RobotsQuestion:
        return self._asked.pop(request.id)

    def _remember(self, origin: str, answer: _Answer) -> None:
        self._forget(origin)
        self._answers[origin] = answer
        self._size += answer.size
        while self._size > _MOST_BYTES:
            self._forget(next(iter(self._answers)))

    def _forget(self, origin: str) -> None:
        answer = self._answers.pop(origin, None)
        if answer is not None:
            self._size -= answer.size


def _file(result: Response | ModuleError) -> bytes:
    """Return the text of an answer; a file that is missing means the same as an empty one."""
    if isinstance(result, Response) and 200 <= result.status < 300:
        return result.body
    return b""


def _hop(request: Request, response: Response) -> Request | None:
    """Return the same request at the URL it was redirected to; None if that leads nowhere."""
    if len(request.redirects) >= _MAX_HOPS:
        return None
    try:
        url = urls.resolve(request.url, response.headers.all("location")[0])
    except InvalidURL:
        return None
    if not url.startswith(("http://", "https://")):
        return None
    return request.replace(url=url, redirects=(*request.redirects, request.url))


def _read(result: Response | ModuleError, now: float) -> _Answer | None:
    """Return the rules in an answer; None if it is not one. A file that is missing allows all."""
    if isinstance(result, ModuleError) or result.status >= 500 or result.status == 429:
        return None
    if not 200 <= result.status < 300:
        return _Answer(now + _LIFETIME, Robots.ALLOW_ALL, _LEAST_BYTES)
    size = max(len(result.body), _LEAST_BYTES)
    return _Answer(now + _LIFETIME, Robots.parse(result.body), size)
