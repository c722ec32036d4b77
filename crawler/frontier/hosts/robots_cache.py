"""RobotsCache: what the robots.txt of each origin says, and which are being fetched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from ... import url as urls
from ...data import BODY_PREFIX, Request, Response
from ...errors import InvalidURL, ModuleError
from ...http.redirect import is_redirect
from ...http.robots_txt import MAX_BYTES, MOST_WILDCARDS, Robots
from .host import Host
from .politeness import Politeness

log = logging.getLogger(__name__)

#: Seconds an answer holds (RFC 9309: no longer than a day).
_LIFETIME = 86400.0
#: Seconds an expired answer still holds while the host does not give a new one; and seconds
#: until an origin whose robots.txt could not be had is asked again.
_EXTENSION = 300.0
#: How many redirects a robots.txt may take.
_MAX_HOPS = 5
#: How many bytes of robots.txt are remembered (their rules take eight times as much memory),
#: and the least that each counts for; the oldest is forgotten first, and fetched again when needed.
_MOST_BYTES = 32 * 2**20
_LEAST_BYTES = 256


class RobotsFailure(NamedTuple):
    """Why a robots.txt cannot be had: the kind of the failure, and the reason in words."""

    kind: str
    reason: str


class _Answer(NamedTuple):
    expires: float
    robots: Robots | RobotsFailure
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

    def __init__(
        self, agent: str, politeness: Politeness, on_answer: Callable[[RobotsFacts], object]
    ) -> None:
        self.agent = agent
        self._max_delay = politeness.max_crawl_delay
        self._answers: dict[str, _Answer] = {}
        self._size = 0
        self._asked: dict[str, RobotsQuestion] = {}
        self._on_answer = on_answer

    def rules(self, origin: str, now: float) -> Robots | RobotsFailure | None:
        """Return the rules of *origin*, or why it has none; None if they must be fetched."""
        answer = self._answers.get(origin)
        return answer.robots if answer is not None and answer.expires > now else None

    def refusal(self, host: Host, rules: Robots, url: str) -> str | None:
        """Return why *rules* forbid to fetch *url* of *host*; None if they do not."""
        if not rules.allowed(self.agent, url):
            return "robots"
        return None if self.obey(host, rules) else "crawl_delay"

    def obey(self, host: Host, rules: Robots) -> bool:
        """
        Apply the Crawl-delay of an origin; return False if it is too long to be obeyed.

        If a host has several origins, the longest counts.
        """
        delay = rules.crawl_delay(self.agent)
        if delay is None:
            return True
        if delay > self._max_delay:
            return False
        host.crawl_delay = max(delay, host.crawl_delay or 0.0)
        return True

    def ask(self, host: Host, origin: str, first: Request) -> Request:
        """Return the request for the robots.txt of *origin*, for which the *first* one of *host* waits."""
        question = Request(
            f"{origin}/robots.txt",
            depth=first.depth,
            found_on=first.found_on,
            meta={BODY_PREFIX: MAX_BYTES + 1},
        )
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
        old = self._answers.get(question.origin)
        if is_answer(result):
            body = _body(result)
            self._learn(question.origin, body, now + _LIFETIME)
            self._on_answer(RobotsFacts(question.origin, _LIFETIME, body))
        elif old is not None and isinstance(old.robots, Robots):
            self._remember(question.origin, old._replace(expires=now + _EXTENSION))
        return None

    def fail(self, origin: str, failure: RobotsFailure, now: float) -> None:
        """Take the *failure* as the answer of *origin*, for a while."""
        self._remember(origin, _Answer(now + _EXTENSION, failure, _LEAST_BYTES))

    def recall(self, facts: RobotsFacts, now: float) -> None:
        """Use an answer that an earlier process got; its clock may have been wrong."""
        self._learn(facts.origin, facts.body, now + min(facts.seconds, _LIFETIME))

    def close(self, request: Request) -> RobotsQuestion:
        return self._asked.pop(request.id)

    def _learn(self, origin: str, body: bytes, expires: float) -> None:
        robots = Robots.parse(body) if body else Robots.ALLOW_ALL
        if ignored := robots.ignored(self.agent):
            log.warning(
                "%s/robots.txt has more than %d patterns with wildcards: the last %d are ignored",
                *(origin, MOST_WILDCARDS, ignored),
            )
        self._remember(origin, _Answer(expires, robots, max(len(body), _LEAST_BYTES)))

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


def is_answer(result: Response | ModuleError) -> TypeGuard[Response]:
    """Return whether *result* tells what the robots.txt is, or that there is none."""
    return isinstance(result, Response) and result.status < 500 and result.status != 429


def _body(answer: Response) -> bytes:
    """Return the part of a file that counts; one that is missing means the same as an empty one."""
    return answer.body[: MAX_BYTES + 1] if 200 <= answer.status < 300 else b""


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
