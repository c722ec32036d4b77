"""What flows through a crawl: requests, responses, items."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import attrgetter
from typing import Any, BinaryIO, ClassVar, Never

from . import charset
from .credentials import without_credentials
from .headers import Headers
from .item_fields import has_fields
from .read_only_dict import ReadOnlyDict, RequestMeta
from .request_content import Pairs, with_query
from .request_fields import (
    Cookies,
    body_bytes,
    callback_name,
    checked_cookies,
    checked_headers,
    checked_meta,
    checked_method,
    checked_priority,
    checked_timeout,
    file_name,
    is_plain,
    login_to_header,
    plain_url,
    refuse_change,
    refuse_fields,
    with_content,
)

#: Request numbers start at a random value, so that the ids of two processes differ.
_numbers = itertools.count(secrets.randbits(40))
_NOTHING: Mapping[str, Any] = ReadOnlyDict()
_NO_META: Mapping[str, Any] = RequestMeta()

#: The key in the meta of a request for the start of a body: the number of decoded bytes after
#: which a fetcher ends the transfer. Its limit for the size of a body does not apply.
BODY_PREFIX = "crawler.body_prefix"
#: The key in the meta of a request for a file that an item names. The limits of a crawl on where
#: its pages are (domains, include patterns, depth) do not concern it, and it is not a trap.
FOR_AN_ITEM = "crawler.for_an_item"


def new_id() -> str:
    return f"{next(_numbers):x}"


def ids_above(number: int) -> None:
    """Make every new id stand for a number above *number*."""
    global _numbers  # noqa: PLW0603 - one sequence for the whole process
    _numbers = itertools.count(max(next(_numbers), number + 1))


_NO_HEADERS = Headers()


@dataclass(frozen=True, slots=True, init=False)
class Request:
    """
    What to fetch, and its depth: the number of links from a start URL.

    A request that a crawl admits loses the fragment of its *url*, which names a part of the page
    and is never sent: all that comes of it, its response included, has the URL that was fetched.
    *callback* and *errback* are names of methods of the spider, so that a request can be
    stored. *dont_filter* admits a URL that was seen before. *timeout* is the time limit in
    seconds for the whole exchange. *cb_kwargs* are keyword arguments of the callback.
    *save_to* is a file for the body of a successful response, which is then not kept in memory,
    and may be larger; if it ends in a slash, the file is named there by its content.
    *redirects* are the URLs that redirected here, and
    *found_on* is the page that linked to the first of them; *attempts* has the result of each
    earlier attempt at this URL. *trusted* are hosts that may be fetched from although their
    address is private; a crawl sets it on each request, and nothing stores it. *id* stays the
    same through retries and redirects; logs and errors print it.

    User and password in the URL become the Authorization field, so that no record, log or
    error has them. *params* are added to the query of the URL. *form* and *json* make the body and its
    Content-Type, and turn GET into POST. None of these three is a field.
    """

    url: str
    method: str
    headers: Mapping[str, str] = field(hash=False)
    body: bytes
    cookies: Mapping[str, str] = field(hash=False)
    meta: Mapping[str, Any] = field(hash=False)
    depth: int
    priority: int
    timeout: float | None
    proxy: str | None
    callback: str | None
    errback: str | None
    dont_filter: bool
    found_on: str | None
    redirects: tuple[str, ...]
    attempts: tuple[str, ...]
    cb_kwargs: Mapping[str, Any] = field(hash=False)
    save_to: str | None
    trusted: AbstractSet[str] | None = field(compare=False, repr=False)
    id: str = field(compare=False)

    def __init__(
        self,
        url: str,
        method_or_callback: str | Callable[..., Any] = "GET",
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = _NO_HEADERS,
        body: bytes | bytearray | str = b"",
        cookies: Cookies = _NOTHING,
        meta: Mapping[str, Any] = _NO_META,
        depth: int = 0,
        priority: int = 0,
        timeout: float | None = None,
        proxy: str | None = None,
        callback: str | Callable[..., Any] | None = None,
        errback: str | Callable[..., Any] | None = None,
        dont_filter: bool = False,
        found_on: str | None = None,
        redirects: tuple[str, ...] = (),
        attempts: tuple[str, ...] = (),
        cb_kwargs: Mapping[str, Any] = _NOTHING,
        save_to: str | os.PathLike[str] | None = None,
        trusted: AbstractSet[str] | None = None,
        id: str | None = None,  # noqa: A002 - the name of the field
        *,
        method: str = "GET",
        params: Pairs | None = None,
        form: Pairs | None = None,
        json: Any = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_fields(unknown)
        if method_or_callback != "GET":
            if callable(method_or_callback):  # other frameworks take the callback in second place
                callback = method_or_callback
            else:
                method = method_or_callback
        if method != "GET":
            method = checked_method(method)
        if depth < 0:
            raise ValueError(f"depth must be 0 or more, not {depth!r}")
        if type(priority) is not int:
            priority = checked_priority(priority)
        if timeout is not None:
            timeout = checked_timeout(timeout)
        if type(url) is not str or not is_plain(url):
            url = plain_url(url)
        if params is not None:
            url = with_query(url, params)
        if headers is not _NO_HEADERS:
            headers = checked_headers(headers)
        if form is not None or json is not None:
            headers, body = with_content(headers, form, json)
            method = "POST" if method == "GET" else method
        if type(body) is not bytes:
            body = b"" if body is None else body_bytes(body)
        if cookies is not _NOTHING:
            cookies = checked_cookies(cookies)
        if type(meta) is not RequestMeta:
            meta = checked_meta(meta)
        if type(cb_kwargs) is not ReadOnlyDict:
            cb_kwargs = ReadOnlyDict(cb_kwargs or _NOTHING)
        if callback is not None:
            callback = callback_name(callback)
        if errback is not None:
            errback = callback_name(errback)
        if save_to is not None:
            save_to = file_name(save_to)
        if "@" in url:
            url, headers, meta = login_to_header(url, headers, meta)
        cls: Any = type(self)
        new: Any = self
        _set_class(new, _draft(cls))
        new.url = url
        new.method = method
        new.headers = headers
        new.body = body
        new.cookies = cookies
        new.meta = meta
        new.depth = depth
        new.priority = priority
        new.timeout = timeout
        new.proxy = proxy
        new.callback = callback
        new.errback = errback
        new.dont_filter = dont_filter
        new.found_on = found_on
        new.redirects = redirects
        new.attempts = attempts
        new.cb_kwargs = cb_kwargs
        new.save_to = save_to
        new.trusted = trusted
        new.id = id or f"{next(_numbers):x}"
        _set_class(new, cls)

    def replace(self, **changes: Any) -> Request:
        """Return a copy with *changes*; it keeps the id, so it counts as the same request."""
        values = list(_values(self))
        for name in _PLACES.keys() & changes.keys():
            values[_PLACES[name]] = changes.pop(name)
        return type(self)(*values, **changes)

    @property
    def next_depth(self) -> int:
        """The depth of the requests found on its page: depth grows here and nowhere else."""
        return self.depth + 1

    def __str__(self) -> str:
        return f"{self.method} {self.url} [{self.id}]"


# A frozen dataclass must not define it, and its own names no remedy.
Request.__setattr__ = refuse_change  # type: ignore[method-assign]
_values = attrgetter(*Request.__slots__)
#: Where each field is among the arguments: copies by place take half of the time.
_PLACES = {name: place for place, name in enumerate(Request.__slots__)}


@dataclass(frozen=True, slots=True)
class Link:
    """A URL found on a page, and nothing else: it becomes a Request when it is taken."""

    url: str
    depth: int
    found_on: str | None
    method: ClassVar[str] = "GET"
    body: ClassVar[bytes] = b""
    priority: ClassVar[int] = 0
    dont_filter: ClassVar[bool] = False


def with_login(link: Link) -> Link | Request:
    """Return *link*, or if its URL has user and password, the request that sends them."""
    request = Request(link.url, depth=link.depth, found_on=link.found_on)
    return request if request.headers else link


@dataclass(frozen=True, slots=True)
class Links:
    """
    URLs that one page links to, in their order and as they were written there.

    *depth* is that of the pages they lead to, and *found_on* the URL they are relative to.
    With a *refusal*, such as "nofollow", they are not followed, only counted for that reason.
    """

    urls: list[str]
    depth: int
    found_on: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class SavedBody:
    """A body in a file: where it is, its size in bytes, and the SHA-256 of it in hexadecimal."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, init=False)
class Response:
    """
    What a server answered, with the whole body in memory, or *saved* in a file.

    *elapsed* is the time of the server in seconds, from the request to the end of its response,
    or to the beginning of a body that is saved:
    CurlFetch leaves out the time for which our own callbacks kept it from reading. *flags* are
    special properties (``truncated``: the body is known to be incomplete; ``cached``: no
    request was sent). *found* are requests that a middleware adds to those found in the page.

    There are no slots: what is computed from the body (encoding, text, the parsed tree) is
    kept in ``__dict__``, and so lives as long as the response.

    *obeys_nofollow* is whether links() leaves out the links that the page asks not to follow.
    *left_out* are those links, and *not_pages* those of other schemes, such as ``mailto:``, for the
    analyzer to count; a copy of the response shares them.
    """

    obeys_nofollow: ClassVar[bool] = True
    left_out: ClassVar[list[Iterable[str]]]
    not_pages: ClassVar[list[Iterable[str]]]

    url: str
    status: int
    headers: Headers = field(hash=False)
    body: bytes = field(repr=False)
    request: Request = field(repr=False)
    elapsed: float
    flags: frozenset[str]
    found: tuple[Request, ...]
    saved: SavedBody | None

    def __init__(
        self,
        url: str,
        status: int,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = _NO_HEADERS,
        body: bytes | bytearray | str = b"",
        request: Request | None = None,
        elapsed: float = 0.0,
        flags: frozenset[str] = frozenset(),
        found: tuple[Request, ...] = (),
        saved: SavedBody | None = None,
    ) -> None:
        # Not by assignment: a frozen dataclass calls a Python function for each field.
        fields = self.__dict__
        fields["url"] = without_credentials(url)
        fields["status"] = status
        fields["headers"] = headers if type(headers) is Headers else Headers(headers)
        fields["body"] = body if type(body) is bytes else body_bytes(body)
        fields["request"] = Request(url) if request is None else request
        fields["elapsed"] = elapsed
        fields["flags"] = flags
        fields["found"] = found
        fields["saved"] = saved
        fields["left_out"] = []
        fields["not_pages"] = []

    @property
    def depth(self) -> int:
        return self.request.depth

    @property
    def size(self) -> int:
        """The number of bytes of the body, wherever it is."""
        return len(self.body) if self.saved is None else self.saved.size

    def reader(self) -> BinaryIO:
        """Return a new reader of the body; readers do not disturb each other."""
        return io.BytesIO(self.body) if self.saved is None else open(self.saved.path, "rb")  # noqa: PTH123

    @cached_property
    def encoding(self) -> str:
        return charset.detect(self.body, self.headers.get("content-type", ""))[0]

    @cached_property
    def text(self) -> str:
        return charset.decode(self.body, self.headers.get("content-type", ""))

    def json(self) -> Any:
        return json.loads(self.body)

    def replace(self, **changes: Any) -> Response:
        copy = dataclasses.replace(self, **changes)
        shared = {name: vars(self)[name] for name in ("left_out", "not_pages")}
        vars(copy).update(shared, obeys_nofollow=self.obeys_nofollow)
        return copy

    def __str__(self) -> str:
        return f"{self.status} {self.url} [{self.request.id}]"


@dataclass(frozen=True, slots=True)
class Item:
    """What a parser found: *value* is the user's mapping or dataclass, *request* its origin."""

    value: Any
    request: Request

    def __str__(self) -> str:
        return f"{type(self.value).__name__} from {self.request.url} [{self.request.id}]"


@dataclass(frozen=True, slots=True)
class LostItem:
    """An item that a spider middleware has dropped, or *failed* on: it is only counted."""

    failed: bool


def is_item(value: object) -> bool:
    """Return whether *value* is a mapping, or an object of a dataclass, attrs or pydantic class."""
    if type(value) is dict or isinstance(value, Mapping):
        return True
    if isinstance(value, type | Request | Response | Item | LostItem | Link | Links):
        return False
    return has_fields(type(value))


_set_class = vars(object)["__class__"].__set__


@cache
def _draft(cls: type[Any]) -> type[Any]:
    """
    Return the class that an instance of the frozen *cls* has while __init__ sets its fields.

    A frozen dataclass calls a Python function for each assignment. This class has the same
    layout and plain assignments, so __init__ swaps the class of the new instance, sets all
    fields, and swaps back. Nothing that can raise happens between the two swaps.

    To create a request takes 1.6 times as long when each field is set by its slot
    descriptor, and 2.3 times as long by object.__setattr__() (medians of 40 interleaved
    rounds of 20,000 requests each, CPython 3.11).
    """
    plain = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(cls.__name__, (cls,), {"__slots__": (), **plain})
