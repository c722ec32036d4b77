"""
Everything the framework raises.

CrawlerError
├── StateError           an operation the scheduler's state forbids
├── Refused              raised by start(): no first request was admitted (reasons by URL)
├── BufferClosed         put() or a get() past the end of a closed buffer
├── PoolClosed           put() or get() on a closed pool
├── FrontierClosed       take() on a closed frontier
├── NoModule             the registrar has no such module
├── Unwritable           a value in a request cannot be stored, or sent to another process
├── JobError             a job directory cannot be used or written to
├── ClusterError         Redis, or the job of a cluster there, cannot be used
│   └── RedisAway        Redis does not answer
├── Refusal              raised by a middleware: this one request is settled as refused
├── Unfinished           raised by a processor that cannot continue: the crawl is stopped
├── Retry                raised by a middleware: the request is tried again later
├── FetchError           an HTTP exchange failed; *kind* is the sort of failure
└── ModuleError          a module failed on one datum (the original is __cause__)
    ├── DownloadError
    ├── AnalyzeError
    └── PipelineError

DropItem                 raised by a processor to drop an item: not an error
TimeLimit                thrown into user code that exceeds its time limit; a BaseException,
                         so that `except Exception` cannot swallow it
InvalidURL               a ValueError: the text is not a URL that a browser would accept

An invalid argument raises a plain ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from .credentials import hide_passwords

if TYPE_CHECKING:
    from .data import Request, Response


#: What a failure of Scrapy has, and what to use instead.
_OF_A_FAILURE = {
    "check": "use isinstance(error, HttpError) or error.kind",
    "getErrorMessage": "use error.kind and error.reason, or str(error)",
    "getTraceback": "self.logger.error(…, exc_info=error) logs it",
    "trap": "use isinstance(error, HttpError) or error.kind",
    "value": "error.response and error.request are of the error itself",
}


class CrawlerError(Exception):
    """The base class of all errors of the framework."""

    if not TYPE_CHECKING:  # mypy would take every attribute for one that is there

        def __getattr__(self, name: str) -> NoReturn:
            """Explain what is used instead of an attribute that errbacks of Scrapy use."""
            instead = f"; {_OF_A_FAILURE[name]}" if name in _OF_A_FAILURE else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{instead}"
            )


class StateError(CrawlerError):
    """The scheduler's state forbids the operation; the message names the state and the remedy."""


class Refused(CrawlerError):
    """
    A crawl cannot start: no first request was admitted.

    *reasons* maps each URL to the reason. For the refusal of a single request by a
    middleware, see Refusal.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        shown = ", ".join(f"{url} ({reason})" for url, reason in list(reasons.items())[:5])
        if not shown:
            shown = "there was none; set start_urls, or yield requests from start()"
        elif "invalid" in reasons.values():
            shown += "; a URL needs http:// or https:// and a host"
        super().__init__(f"no first request was admitted: {shown}")
        self.reasons = dict(reasons)

    def __reduce__(self) -> tuple[type[Refused], tuple[dict[str, str]]]:
        return type(self), (self.reasons,)


class BufferClosed(CrawlerError):
    """The buffer is closed and, if raised by get(), empty."""


class PoolClosed(CrawlerError):
    """The pool is closed."""


class FrontierClosed(CrawlerError):
    """The frontier is closed."""


class NoModule(CrawlerError):
    """The registrar has no module of the requested kind or id."""


class JobError(CrawlerError):
    """A job directory is in use, damaged, of another version, or not writable."""


class ClusterError(CrawlerError):
    """Redis, or the job of a cluster that it holds, cannot be used."""


class RedisAway(ClusterError):
    """Redis does not answer: it is not running, cannot be reached, or is loading its data."""


class Unwritable(CrawlerError, ValueError):
    """A value in a request cannot be written as JSON; *place* is where, *kind* its type."""

    def __init__(self, place: str, value: object, url: str) -> None:
        kind = value if isinstance(value, type) else type(value)
        super().__init__(
            f"{place} of the request for {url:.200} is {kind.__module__}.{kind.__qualname__}, which "
            "JSON cannot represent: use text, numbers, lists and dicts (dict(item) for an item), which "
            "may nest 100 deep"
        )
        self.place = place
        self.kind = kind
        self.url = url

    def __reduce__(self) -> tuple[type[Unwritable], tuple[str, type, str]]:
        return type(self), (self.place, self.kind, self.url)


class Refusal(CrawlerError):
    """
    Raised by a middleware to settle the request under download as refused, for *reason*.

    The crawl continues. For a crawl that cannot start, see Refused.
    """

    def __init__(self, reason: str, url: str = "") -> None:
        super().__init__(f"{url} ({reason})" if url else reason)
        self.reason = reason


class Unfinished(CrawlerError):
    """
    Raised by a processor to stop the crawl; the next crawl of the job repeats the page.

    *reason* is why the crawl has ended.
    """

    reason = "output_closed"


class Retry(CrawlerError):
    """Raised to have the request tried again after at least *delay* seconds, for *reason*."""

    def __init__(self, reason: str, delay: float = 0.0) -> None:
        super().__init__(f"{reason} (again in {delay:g} s)")
        self.reason = reason
        self.delay = delay

    def __reduce__(self) -> tuple[type[Retry], tuple[str, float]]:
        return type(self), (self.reason, self.delay)


class FetchError(CrawlerError):
    """
    An HTTP exchange failed.

    *kind* is stable, so that failures can be counted and decided on: dns, connect, tls,
    timeout, too_large, truncated, bad_encoding, protocol, proxy, bad_request,
    blocked_address, descriptors (this process has no file descriptor left), disk (the file for
    the body cannot be written), not_archived or network.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail

    def __reduce__(self) -> tuple[type[FetchError], tuple[str, str]]:
        return type(self), (self.kind, self.detail)


class ModuleError(CrawlerError):
    """
    A module failed on one datum; the original exception is ``__cause__``.

    Failures are counted by *kind*. *module* is the id of the module, *request* is the origin
    of the datum (its ``id`` is in the message). Every error that an errback gets has *request*,
    *response*, *kind* and *reason*.
    """

    kind = "module"

    def __init__(self, module: str, request: Request, reason: str, kind: str = "") -> None:
        super().__init__(f"{module} failed on {request.url} [{request.id}]: {reason}")
        self.module = module
        self.request = request
        self.reason = reason
        self.kind = kind or type(self).kind

    @property
    def response(self) -> Response | None:
        """The response that is the failure, such as a 404; None for other failures."""
        return getattr(self.__cause__, "response", None)

    def __reduce__(self) -> tuple[type[ModuleError], tuple[str, Request, str, str]]:
        return type(self), (self.module, self.request, self.reason, self.kind)


class DownloadError(ModuleError):
    """A downloader failed on a request; *kind* is that of the FetchError if there is one."""

    kind = "download"


class AnalyzeError(ModuleError):
    """A parser of an analyzer failed on a response."""

    kind = "parse"


class PipelineError(ModuleError):
    """A processor of a pipeline failed on an item."""

    kind = "process"


class DropItem(Exception):
    """Raised by a processor: the item ends here and is counted as dropped."""


class TimeLimit(BaseException):
    """A module exceeded its time limit for one datum."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took longer than {seconds:g} s")
        self.seconds = seconds

    def __reduce__(self) -> tuple[type[TimeLimit], tuple[float]]:
        return type(self), (self.seconds,)


class InvalidURL(ValueError):
    """The text is not a URL; *url* is the text and *reason* is what is wrong."""

    def __init__(self, url: str, reason: str = "not a URL") -> None:
        super().__init__(f"{reason}: {hide_passwords(url)[:200]!r}")
        self.url = url
        self.reason = reason

    def __reduce__(self) -> tuple[type[InvalidURL], tuple[str, str]]:
        return type(self), (self.url, self.reason)
