"""RobotsCache: asks each origin for its robots.txt, and remembers the answer."""

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
#: Seconds an expired answer goes on holding while the host does not give a new one.
_EXTENSION = 300.0
#: How many redirects a robots.txt may take.
_MAX_HOPS = 5
#: How many bytes of robots.txt are remembered (their rules take eight times as much memory),
#: and what each counts for at least; the oldest is asked again when needed.
_MOST_BYTES = 32 * 2**20
_LEAST_BYTES = 256


class _Answer(NamedTuple):
    expires: float
    robots: Robots
    size: int


@dataclass(frozen=True, slots=True)
class RobotsQuestion:
    """*host* waits for the robots.txt of *origin*."""

    host: Host
    origin: str


class RobotsCache:
    """Knows which origin said what, and which are being asked; fetching is the frontier's work."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._answers: dict[str, _Answer] = {}
        self._size = 0
        self._asked: dict[str, RobotsQuestion] = {}
        #: Told of each answer: the origin, the seconds it holds, and the file.
        self.on_answer: Callable[[str, float, bytes], object] = _ignore

    def rules(self, origin: str, now: float) -> Robots | None:
        """Return what *origin* says, None if it must be asked."""
        answer = self._answers.get(origin)
        return answer.robots if answer is not None and answer.expires > now else None

    def allows(self, host: Host, request: Request, now: float) -> bool | None:
        """Say if *request* of *host* may be fetched; None if its origin must be asked first."""
        rules = self.rules(urls.origin(request.url), now)
        if rules is None:
            return None
        self.obey(host, rules)
        return rules.allowed(self.agent, request.url)

    def obey(self, host: Host, rules: Robots) -> None:
        """Keep the Crawl-delay of an origin; where a host has several, the longest counts."""
        delay = rules.crawl_delay(self.agent)
        if delay is not None:
            host.crawl_delay = max(delay, host.crawl_delay or 0.0)

    def ask(self, host: Host, origin: str, first: Request) -> Request:
        """Return the request that asks *origin* on behalf of *host*, whose *first* request waits."""
        question = Request(f"{origin}/robots.txt", depth=first.depth, found_on=first.found_on)
        self._asked[question.id] = RobotsQuestion(host, origin)
        return question

    def is_question(self, request: Request) -> bool:
        return request.id in self._asked

    def answered(
        self, request: Request, result: Response | ModuleError, now: float
    ) -> Request | None:
        """
        Take the *result* of a question; return the next hop, if it was sent elsewhere.

        There is no answer when the origin cannot be reached, or says 429 or 5xx; then an
        old one goes on holding for a while.
        """
        question = self._asked[request.id]
        if isinstance(result, Response) and is_redirect(result):
            hop = _hop(request, result)
            if hop is not None:
                return hop
        answer = _read(result, now)
        if answer is not None:
            self._remember(question.origin, answer)
            self.on_answer(question.origin, _LIFETIME, _file(result))
        elif question.origin in self._answers:
            old = self._answers[question.origin]
            self._remember(question.origin, old._replace(expires=now + _EXTENSION))
        return None

    def recall(self, origin: str, expires: float, body: bytes) -> None:
        """Take over an answer that was given earlier."""
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
    """Return the robots.txt of an answer; one that is not there says as much as an empty one."""
    if isinstance(result, Response) and 200 <= result.status < 300:
        return result.body
    return b""


def _ignore(_origin: str, _seconds: float, _body: bytes) -> None:
    pass


def _hop(request: Request, response: Response) -> Request | None:
    """Return the same question at the place it was sent to; None if that leads nowhere."""
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
    """Turn an answer into rules: a file that is not there allows all; None is no answer."""
    if isinstance(result, ModuleError) or result.status >= 500 or result.status == 429:
        return None
    if not 200 <= result.status < 300:
        return _Answer(now + _LIFETIME, Robots.ALLOW_ALL, _LEAST_BYTES)
    size = max(len(result.body), _LEAST_BYTES)
    return _Answer(now + _LIFETIME, Robots.parse(result.body), size)
