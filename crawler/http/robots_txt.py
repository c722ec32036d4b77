"""
What a robots.txt allows (RFC 9309), parsed as leniently as by Google's parser.

Parsing takes time proportional to its input, whatever it is, and the work of one match has a
bound: patterns are not compiled to regular expressions, the number of patterns with wildcards is
limited, and a path that would take too much work to match is disallowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

from .. import url as urls

#: RFC 9309 requires at least this many bytes; the rest of a longer file is ignored.
MAX_BYTES = 500 * 1024
#: How many patterns with wildcards an agent may have; those after them in the file are ignored.
MOST_WILDCARDS = 1000
#: How many characters a match may compare in patterns whose probe is in the path.
_MOST_WORK = 2_000_000
#: How many characters are compared in the time that a call takes.
_CALL = 300
#: The greatest length of a probe.
_PROBE = 16

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
_SECONDS = re.compile(rb"(?=\.?[0-9])[0-9]*(?:\.[0-9]{0,9})?")
_STARS = re.compile(r"\*+")

#: The parts in which two spellings of one path may differ, and the spelling to compare.
_VARIANTS = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~/?:@!&()+,;=\[\]#]")
_NORMAL_FORMS = {chr(octet): f"%{octet:02X}" for octet in range(256)} | urls.ESCAPES


class _Pattern(NamedTuple):
    """
    A pattern with wildcards, split at its stars.

    A path that matches has *head* first, then each of *rest* in order; *least* is its length at
    least.
    """

    size: int
    allow: bool
    head: str
    rest: tuple[str, ...]
    ends: bool
    least: int

    @classmethod
    def read(cls, pattern: bytes, *, allow: bool) -> _Pattern:
        text = _STARS.sub("*", pattern.decode("latin-1"))
        ends = text.endswith("$")
        head, *rest = map(_normalized, text.removesuffix("$").split("*"))
        least = len(head) + sum(map(len, rest))
        return cls(least + len(rest) + ends, allow, head, tuple(rest), ends, least)

    @property
    def probe(self) -> str:
        """
        A piece of the pattern that every path has that matches.

        Its last character occurs only once in it: so it is looked for in linear time.
        """
        part = max(self.head, *self.rest, key=len)[:_PROBE]
        last = max((n for n, char in enumerate(part) if char not in part[:n]), default=0)
        return part[: last + 1]

    def work(self, path: str) -> int:
        """Return how many characters matches() compares at most, or would in the same time."""
        longest = max(map(len, self.rest))
        return (len(path) - longest + 1) * longest + len(self.rest) * _CALL

    def matches(self, path: str) -> bool:
        rest = self.rest
        if not path.startswith(self.head):
            return False
        place = len(self.head)
        for part in rest[:-1]:
            found = path.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        if self.ends:
            return path.endswith(rest[-1], place)
        return path.find(rest[-1], place) >= 0


class _Rules:
    """
    The rules for one agent: the longest rule that matches decides; at equal length, allow.

    Plain prefixes and whole paths are looked up in dicts, prefixes one length at a time. Patterns
    with wildcards are tried one by one if their probe is in the path: most are not.
    """

    def __init__(self, patterns: Iterable[tuple[bool, bytes]]) -> None:
        #: How many patterns are beyond the limit.
        self.ignored = 0
        self._prefixes: dict[str, bool] = {}
        self._paths: dict[str, bool] = {}
        wildcards: list[_Pattern] = []
        for allow, pattern in patterns:
            if b"*" not in pattern:
                self._add(pattern.decode("latin-1"), allow=allow)
            elif len(wildcards) < MOST_WILDCARDS:
                wildcards.append(_Pattern.read(pattern, allow=allow))
            else:
                self.ignored += 1
        self._lengths = sorted(set(map(len, self._prefixes)), reverse=True)
        self._wildcards = [(each.probe, each) for each in sorted(wildcards, reverse=True)]

    def _add(self, text: str, *, allow: bool) -> None:
        """Add a pattern without wildcards; an empty one is ignored."""
        same_kind = self._paths if text.endswith("$") else self._prefixes
        if text:
            path = _normalized(text.removesuffix("$"))
            same_kind[path] = allow or same_kind.get(path, False)

    def allow(self, path: str) -> bool:
        size, allow = self._longest_without_wildcards(path)
        work = 0
        for probe, pattern in self._wildcards:
            if pattern.size < size:
                break
            if pattern.least > len(path) or probe not in path:
                continue
            work += pattern.work(path)
            if work > _MOST_WORK:
                return False
            if pattern.matches(path):
                return pattern.allow or (allow and pattern.size == size)
        return allow

    def _longest_without_wildcards(self, path: str) -> tuple[int, bool]:
        if (allow := self._paths.get(path)) is not None:
            return len(path) + 1, allow
        for length in self._lengths:
            if length <= len(path) and (allow := self._prefixes.get(path[:length])) is not None:
                return length, allow
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
                if value:
                    sitemaps[value.decode(errors="replace")] = None
            else:
                group.rules.append((key == "allow", value))
        return cls(groups, tuple(sitemaps))

    def allowed(self, agent: str, url: str) -> bool:
        """Return whether *agent* may fetch *url*; /robots.txt itself is always allowed."""
        path = urls.target(url)
        return path == "/robots.txt" or self._rules_for(agent).allow(_normalized(path))

    def crawl_delay(self, agent: str) -> float | None:
        """
        Return the seconds *agent* must wait between fetches; of several values, the largest.

        A number too large for a float is infinite.
        """
        groups = self._groups.get(self._group_name(agent), ())
        return max((group.delay for group in groups if group.delay is not None), default=None)

    def ignored(self, agent: str) -> int:
        """Return how many patterns with wildcards are ignored because *agent* has too many."""
        return self._rules_for(agent).ignored

    def _group_name(self, agent: str) -> str:
        token = _token(agent)
        return token if token in self._groups else "*"

    def _rules_for(self, agent: str) -> _Rules:
        token = self._group_name(agent)
        rules = self._rules.get(token)
        if rules is None:
            apart = {id(group.rules): group.rules for group in self._groups.get(token, ())}
            found = (rule for rules in apart.values() for rule in rules)
            rules = _Rules(found)
            self._rules[token] = rules
        return rules

    def __repr__(self) -> str:
        return f"<Robots for {len(self._groups)} agents, {len(self.sitemaps)} sitemaps>"


def _records(body: bytes) -> Iterator[tuple[str, bytes]]:
    if len(body) > MAX_BYTES:
        body = body[: max(body.rfind(end, 0, MAX_BYTES) for end in (b"\n", b"\r")) + 1]
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
