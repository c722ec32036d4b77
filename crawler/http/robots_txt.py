"""
What a robots.txt allows (RFC 9309), parsed as leniently as by Google's parser.

Parsing and matching take time proportional to their input, whatever it is: patterns are not
compiled to regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

from .. import url as urls

#: RFC 9309 requires at least this many bytes; the rest of a longer file is ignored.
_MAX_BYTES = 500 * 1024

_KEYS = {
    b"user-agent": "agent",
    b"useragent": "agent",
    b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"diasllow": "disallow",
    b"disallaw": "disallow",
    b"crawl-delay": "delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}
_BYTE_ORDER_MARKS = b"\xef\xbb\xbf\xff\xfe"
_TOKEN = re.compile(r"[A-Za-z_-]+")
_SECONDS = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_STARS = re.compile(r"\*+")

#: The parts in which two spellings of one path may differ, and the spelling to compare.
_VARIANTS = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~/?:@!&()+,;=\[\]#]")
_NORMAL_FORMS = {chr(octet): f"%{octet:02X}" for octet in range(256)} | urls.ESCAPES


class _Rule(NamedTuple):
    """A pattern split at its stars: a path has *head* first, then each of *rest* in order."""

    size: int
    allow: bool
    head: str
    rest: tuple[str, ...]
    ends: bool

    @classmethod
    def read(cls, pattern: bytes, *, allow: bool) -> _Rule:
        text = _STARS.sub("*", pattern.decode("latin-1"))
        ends = text.endswith("$")
        head, *rest = map(_normalized, text.removesuffix("$").split("*"))
        return cls(len("*".join([head, *rest])) + ends, allow, head, tuple(rest), ends)

    @property
    def is_prefix(self) -> bool:
        return not (self.rest or self.ends)

    def matches(self, path: str) -> bool:
        _, _, head, rest, ends = self
        if not rest:
            return path == head if ends else path.startswith(head)
        if not path.startswith(head):
            return False
        place = len(head)
        for part in rest[:-1]:
            found = path.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        return path.endswith(rest[-1], place) if ends else path.find(rest[-1], place) >= 0


class _Rules:
    """
    The rules for one agent: the longest rule that matches decides; at equal length, allow.

    Plain prefixes are looked up in a dict, one length at a time; other patterns are tried
    one by one.
    """

    def __init__(self, rules: Iterable[_Rule]) -> None:
        self._prefixes: dict[str, bool] = {}
        self._others: list[_Rule] = []
        for rule in rules:
            if rule.is_prefix:
                self._prefixes[rule.head] = rule.allow or self._prefixes.get(rule.head, False)
            else:
                self._others.append(rule)
        self._lengths = sorted(set(map(len, self._prefixes)), reverse=True)
        self._others.sort(reverse=True)

    def allow(self, path: str) -> bool:
        size, allow = self._longest_prefix(path)
        for rule in self._others:
            if rule.size < size:
                break
            if rule.matches(path):
                return rule.allow or (allow and rule.size == size)
        return allow

    def _longest_prefix(self, path: str) -> tuple[int, bool]:
        for length in self._lengths:
            allow = self._prefixes.get(path[:length])
            if allow is not None:
                return min(length, len(path)), allow
        return 0, True


@dataclass(slots=True)
class _Group:
    """The rules and the delay for the agents listed before them."""

    rules: list[tuple[bool, bytes]] = field(default_factory=list)
    delay: float | None = None


class Robots:
    """
    The rules of one robots.txt.

    An *agent* is a product token such as "examplebot". Of a longer text ("ExampleBot/1.0")
    only the first word counts; case does not matter.
    """

    ALLOW_ALL: ClassVar[Robots]
    DISALLOW_ALL: ClassVar[Robots]

    def __init__(self, groups: Mapping[str, list[_Group]], sitemaps: tuple[str, ...]) -> None:
        self.sitemaps = sitemaps
        self._groups = groups
        self._rules: dict[str, _Rules] = {}

    @classmethod
    def parse(cls, body: bytes) -> Robots:
        """Parse *body* and skip invalid lines; never raise."""
        groups: dict[str, list[_Group]] = {}
        sitemaps: dict[str, None] = {}
        group = _Group()
        for key, value in _records(body):
            if key == "agent":
                group = _group_of_next_agent(group)
                if token := _agent_token(value):
                    groups.setdefault(token, []).append(group)
            elif key == "delay":
                if _SECONDS.fullmatch(value):
                    group.delay = max(float(value), group.delay or 0)
            elif key == "sitemap":
                sitemaps[value.decode(errors="replace")] = None
            else:
                group.rules.append((key == "allow", value))
        return cls(groups, tuple(sitemaps))

    def allowed(self, agent: str, url: str) -> bool:
        """Return whether *agent* may fetch *url*; /robots.txt itself is always allowed."""
        path = urls.target(url)
        return path == "/robots.txt" or self._rules_for(agent).allow(_normalized(path))

    def crawl_delay(self, agent: str) -> float | None:
        """Return the seconds *agent* must wait between fetches; of several values, the largest."""
        groups = self._groups.get(self._group_name(agent), ())
        return max((group.delay for group in groups if group.delay is not None), default=None)

    def _group_name(self, agent: str) -> str:
        token = _token(agent)
        return token if token in self._groups else "*"

    def _rules_for(self, agent: str) -> _Rules:
        token = self._group_name(agent)
        rules = self._rules.get(token)
        if rules is None:
            apart = {id(group.rules): group.rules for group in self._groups.get(token, ())}
            found = (rule for rules in apart.values() for rule in rules)
            rules = _Rules(_Rule.read(pattern, allow=allow) for allow, pattern in found if pattern)
            self._rules[token] = rules
        return rules

    def __repr__(self) -> str:
        return f"<Robots for {len(self._groups)} agents, {len(self.sitemaps)} sitemaps>"


def _records(body: bytes) -> Iterator[tuple[str, bytes]]:
    if len(body) > _MAX_BYTES:
        body = body[: max(body.rfind(end, 0, _MAX_BYTES) for end in (b"\n", b"\r")) + 1]
    for line in body.replace(b"\0", b"").lstrip(_BYTE_ORDER_MARKS).splitlines():
        key, colon, value = line.partition(b"#")[0].partition(b":")
        if not colon and len(words := key.split()) == 2:
            key, value = words
        if name := _KEYS.get(key.strip().lower()):
            yield name, value.strip()


def _group_of_next_agent(group: _Group) -> _Group:
    """
    Return the group of an agent whose line follows *group*.

    Agents in consecutive lines share the rules after them; only a rule ends the list of
    agents. But a delay between the agents belongs to those before it.
    """
    if group.rules:
        return _Group()
    return group if group.delay is None else _Group(group.rules)


def _agent_token(value: bytes) -> str:
    return "*" if value.split()[:1] == [b"*"] else _token(value.decode("latin-1"))


@lru_cache(maxsize=1024)
def _token(text: str) -> str:
    found = _TOKEN.match(text)
    return found[0].lower() if found else ""


def _normalized(text: str) -> str:
    """Return *text* with its escapes spelled in the way in which paths and patterns compare."""
    return _VARIANTS.sub(lambda found: _NORMAL_FORMS[found[0]], text)


Robots.ALLOW_ALL = Robots.parse(b"")
Robots.DISALLOW_ALL = Robots.parse(b"User-agent: *\nDisallow: /")
