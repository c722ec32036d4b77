"""The values of the fields of a request, checked and made plain when it is created."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from types import MethodType
from typing import Any, NoReturn

import ada_url

from .credentials import split_credentials
from .headers import Headers
from .read_only_dict import ReadOnlyDict, RequestMeta
from .request_content import Pairs, form_body, json_body

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNSAFE = re.compile(r"[\r\n\0]")
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_UNSAFE_COOKIE = re.compile(r"[\r\n\0;]")
Cookies = Mapping[str, str] | Sequence[Mapping[str, str]]
#: The key in meta that says that the Authorization field of a request comes from its URL.
URL_LOGIN = "crawler.url_login"
#: Keys of meta by which Scrapy changes how a request is sent, and what to write instead.
_NOT_IN_META = {
    "allow_offsite": "the setting domains",
    "bindaddress": "nothing: the system chooses the address",
    "cookiejar": 'meta["session"]',
    "dont_cache": "no HttpCache for this host",
    "dont_merge_cookies": 'meta["session"], with a name of its own',
    "dont_obey_robotstxt": "the setting robots",
    "dont_redirect": 'meta["max_redirects"] = 0',
    "dont_retry": "the setting retries",
    "download_maxsize": "the setting max_body, or save_to=",
    "download_timeout": "timeout=",
    "handle_httpstatus_all": 'meta["handle_httpstatus_list"] = [*range(600)]',
    "max_retry_times": "the setting retries",
    "proxy": "proxy=",
}
#: The types of the values of keys of meta that the crawl reads.
_META_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "handle_httpstatus_list": ((list, tuple, set, frozenset, range), "a list of status codes"),
    "max_redirects": ((int,), "a whole number"),
}
#: Arguments of a request that only Scrapy has, and what to write instead.
_NOT_FIELDS = {
    "encoding": "a URL and a body of text are UTF-8: give body=text.encode(…) for another encoding",
    "flags": 'write meta={"flags": […]}',
    "formdata": "write form=, or FormRequest(url, formdata=…)",
    "formnumber": 'select the form by formcss=, such as "form:nth-of-type(2)"',
    "formxpath": "select the form by formcss=, formid= or formname=",
    "max_redirects": 'write meta={"max_redirects": …}',
}


def refuse_fields(names: Iterable[str]) -> NoReturn:
    """Raise TypeError for *names*, which are not arguments of a request."""
    named = (f"{name!r}{'; ' * (name in _NOT_FIELDS)}{_NOT_FIELDS.get(name, '')}" for name in names)
    raise TypeError(f"a Request has no argument {', '.join(named)}")


def refuse_change(request: object, name: str, value: object) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(
        f"a request cannot be changed: give {name}= to the new request, or write "
        f"request = request.replace({name}=…)"
    )


def is_plain(url: str) -> bool:
    """Return whether *url* is not empty, and has only characters that URLs may have."""
    return url.isascii() and url.isprintable() and " " not in url and bool(url)


def plain_url(url: str) -> str:
    """
    Return *url* as browsers write it: without blanks around it, and in ASCII.

    What is not an absolute URL, or has a line break in it, is returned as it is: it is refused
    later. The result is a plain str: a selector's subclass of str may keep its document alive.
    """
    if not isinstance(url, str):
        hint = ": has a selector found nothing?" if url is None else ""
        raise ValueError(f"url must be text, not {url!r:.200}{hint}")
    text = str.__str__(url.strip())
    if not text:
        raise ValueError("url must not be empty")
    if is_plain(text) or _CONTROL.search(text):
        return text
    try:
        return ada_url.URL(text).href
    except ValueError:
        return text


def file_name(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"save_to must be the name of a file, or of a directory/, not {path!r}")
    return str.__str__(name)


def callback_name(callback: object) -> str:
    """Return the name of a callback, which is a method of the spider or its name already."""
    if isinstance(callback, str):
        return callback
    name = getattr(callback, "__name__", "")
    if not isinstance(callback, MethodType) or not name.isidentifier():
        raise ValueError(
            f"a callback must be a method of the spider, or its name, not {callback!r}"
        )
    return str(name)


def checked_meta(meta: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return *meta*; refuse a key that would be ignored, so that nothing is sent otherwise than meant."""
    meta = {} if meta is None else meta
    for name in meta.keys() & _NOT_IN_META.keys():
        raise ValueError(f'meta["{name}"] has no effect here: use {_NOT_IN_META[name]}')
    for name, (kinds, wanted) in _META_KINDS.items():
        if name in meta and not isinstance(meta[name], kinds):
            raise ValueError(f'meta["{name}"] must be {wanted}, not {meta[name]!r:.200}')
    return RequestMeta(meta)


def _is_token(text: object) -> bool:
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def checked_method(method: str) -> str:
    if not _is_token(method):
        raise ValueError(f"method must be a word such as GET or POST, not {method!r}")
    return method.upper()


def checked_priority(priority: object) -> int:
    """Return *priority*; a frontier compares it with others."""
    if not isinstance(priority, int):
        raise ValueError(f"priority must be a whole number, not {priority!r:.200}")
    return priority


def checked_timeout(timeout: object) -> float:
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    return timeout


def checked_headers(fields: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Headers:
    if isinstance(fields, str):
        raise ValueError(
            f"headers must be a mapping, not {fields!r:.200}: give each argument after the callback "
            "by its name, such as method="
        )
    fields = () if fields is None else fields
    headers = fields if isinstance(fields, Headers) else Headers(fields)
    for name, value in headers.fields:
        if not _is_token(name):
            raise ValueError(f"header name {name!r} is not a token as HTTP defines it")
        if not isinstance(value, str) or _UNSAFE.search(value):
            raise ValueError(f"header {name} must be text without line breaks, not {value!r}")
    return headers


def with_content(headers: Any, form: Pairs | None, json: Any) -> tuple[Headers, bytes]:
    """Return *headers* with the Content-Type of *form* or *json*, unless they have one; and the body."""
    if form is not None and json is not None:
        raise ValueError("a request has either a form or json, not both")
    typed, body = json_body(json) if form is None else form_body(form)
    given = headers.fields
    kept = headers if "content-type" in headers else Headers([*given, ("Content-Type", typed)])
    return kept, body


def body_bytes(body: bytes | bytearray | str) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytearray | memoryview):
        return bytes(body)
    raise ValueError(f"body must be bytes or text, not {type(body).__name__}")


def checked_cookies(cookies: Cookies | None) -> Mapping[str, str]:
    cookies = {} if cookies is None else cookies
    if not isinstance(cookies, Mapping):
        if not _are_pairs(cookies):
            raise ValueError(
                f"cookies must be a mapping of names to values, not {cookies!r:.200}; in a list, each "
                "has a name and a value, and no domain or path: they are sent with this request only"
            )
        cookies = {one["name"]: one["value"] for one in cookies}
    for name, value in cookies.items():
        if not isinstance(value, str):
            raise ValueError(f"the value of the cookie {name!r} must be text, not {value!r:.200}")
        if not _is_token(name) or _UNSAFE_COOKIE.search(value):
            raise ValueError(f"cookie {name!r}={value!r} is not allowed in HTTP")
    return ReadOnlyDict(cookies)


def _are_pairs(cookies: object) -> bool:
    """Return whether they are dicts of a name and a value; a domain or a path would be ignored."""
    return isinstance(cookies, list | tuple) and all(
        isinstance(one, Mapping) and one.keys() == {"name", "value"} for one in cookies
    )


def login_to_header(
    url: str, headers: Mapping[str, str], meta: Mapping[str, Any]
) -> tuple[str, Mapping[str, str], Mapping[str, Any]]:
    """Move user and password from *url* to the Authorization field, unless there is one."""
    url, login = split_credentials(url)
    if login is not None and "authorization" not in headers:
        headers = Headers([*headers.items(), ("Authorization", login)])
        meta = RequestMeta({**meta, URL_LOGIN: True})
    return url, headers, meta
