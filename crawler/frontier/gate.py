"""RobotsGate: asks each origin for its robots.txt, and remembers the answer."""

from __future__ import annotations

from dataclasses import dataclass

from ..data import Request, Response
from ..errors import InvalidURL, ModuleError
from ..url import resolve
from .hosts import Host
from .redirect import is_redirect
from .robots import Robots

#: Seconds an answer holds (RFC 9309: no longer than a day).
_LIFETIME = 86400.0
#: Seconds an expired answer goes on holding while the host does not give a new one.
_EXTENSION = 300.0
#: How many redirects a robots.txt may take.
_MAX_HOPS = 5
#: How many origins are remembered; the oldest is asked again when needed.
_MOST_ORIGINS = 20_000


@dataclass(frozen=True, slots=True)
class Question:
    """*host* waits for the robots.txt of *origin*."""

    host: Host
    origin: str


class RobotsGate:
    """Knows which origin said what, and which are being asked; fetching is the frontier's work."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._answers: dict[str, tuple[float, Robots]] = {}
        self._asked: dict[str, Question] = {}

    def rules(self, origin: str, now: float) -> Robots | None:
        """Return what *origin* says, None if it must be asked."""
        expires, robots = self._answers.get(origin, (0.0, None))
        return robots if expires > now else None

    def ask(self, host: Host, origin: str, first: Request) -> Request:
        """Return the request that asks *origin* on behalf of *host*, whose *first* request waits."""
        question = Request(f"{origin}/robots.txt", depth=first.depth, found_on=first.found_on)
        self._asked[question.id] = Question(host, origin)
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
        robots = _read(result)
        if robots is not None:
            self._remember(question.origin, robots, now + _LIFETIME)
        elif question.origin in self._answers:
            robots = self._answers[question.origin][1]
            self._remember(question.origin, robots, now + _EXTENSION)
        return None

    def close(self, request: Request) -> Question:
        return self._asked.pop(request.id)

    def _remember(self, origin: str, robots: Robots, until: float) -> None:
        self._answers.pop(origin, None)
        self._answers[origin] = (until, robots)
        if len(self._answers) > _MOST_ORIGINS:
            del self._answers[next(iter(self._answers))]


def _hop(request: Request, response: Response) -> Request | None:
    """Return the same question at the place it was sent to; None if that leads nowhere."""
    if len(request.redirects) >= _MAX_HOPS:
        return None
    try:
        url = resolve(request.url, response.headers.all("location")[0])
    except InvalidURL:
        return None
    if not url.startswith(("http://", "https://")):
        return None
    return request.replace(url=url, redirects=(*request.redirects, request.url))


def _read(result: Response | ModuleError) -> Robots | None:
    """Turn an answer into rules: a file that is not there allows all; None is no answer."""
    if isinstance(result, ModuleError) or result.status >= 500 or result.status == 429:
        return None
    return Robots.parse(result.body) if 200 <= result.status < 300 else Robots.ALLOW_ALL
