"""Settings: all the settings of a crawl as one value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..credentials import hide_passwords
from ..fetch import AddressGuard, CurlFetch, Limits, any_address
from ..fetch.user_agent import user_agent
from ..frontier import ANY_DOMAIN, Budget, Politeness, Retries
from ..http.referrer_policy import DEFAULT_POLICY
from ..module import Analyzer, Downloader, Pipeline
from ..scheduler.args import DataArgs, ModuleArgs, RequestArgs
from ..scheduler.memory_guard import Memory
from .cluster_group import ClusterGroup
from .explain import Described, Explained
from .header_fields import general_fields
from .sources import Given, from_environ, from_mapping, from_toml
from .table import SETTINGS, Setting, find

_NOTHING: Mapping[str, Any] = {}
#: The default number of connections that a client keeps; more if more requests are in flight.
_CONNECTIONS: int = signature(CurlFetch).parameters["max_connections"].default
#: The pages of one host in a crawl of any domain.
_BROAD_CAP = 1000
#: The name of the wrong field at the start of an error; the setting may have another name.
_PART = re.compile(r"^\w+(: | (?=must |pattern ))")


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """
    The settings of a crawl; SETTINGS describes each of them.

    Two Settings are equal if they have the same values; the sources do not matter. *origins* has
    all the values given for each setting, by name; the last one counts.
    """

    concurrency: int = ModuleArgs.download_workers
    analyze_workers: int = ModuleArgs.analyze_workers
    analyzers: int = 0
    pipeline_workers: int = ModuleArgs.pipeline_workers
    time_limit: float = ModuleArgs.time_limit
    depth: int | None = RequestArgs.max_depth
    domains: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_pages_per_host: int | None = RequestArgs.max_pages_per_host
    max_links_per_page: int | None = ModuleArgs.max_links
    max_chain: int | None = RequestArgs.max_chain
    max_hosts_per_domain: int | None = RequestArgs.max_hosts_per_domain
    fingerprint: str = RequestArgs.fingerprint
    duplicate_filter: str = RequestArgs.duplicate_filter
    max_redirects: int = RequestArgs.max_redirects
    nofollow: bool = True
    cookies: bool = True
    auth: str = "basic"
    referer: str = DEFAULT_POLICY
    headers: Sequence[str] = ()
    proxy: str | None = None
    user_agent: str | None = None
    contact: str | None = None
    verify: bool = True
    ca_file: Path | None = None
    allow_private: bool = False
    allow_addresses: Sequence[str] = ()
    pipelines: Sequence[str] = ()
    politeness: Politeness = field(default=Politeness())
    retries: Retries = field(default=Retries())
    budget: Budget = field(default=Budget())
    memory: Memory = field(default=Memory())
    limits: Limits = field(default=Limits())
    pools: DataArgs = field(default=DataArgs())
    cluster: ClusterGroup = field(default=ClusterGroup())
    origins: Mapping[str, Sequence[Given]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            if not setting.group:
                value = _accept(setting, getattr(self, setting.field))
                object.__setattr__(self, setting.field, value)
        self.request_args()
        AddressGuard(self.allow_addresses)
        general_fields(self.headers)

    @staticmethod
    def load(
        *,
        toml: Path | None = None,
        spider: Mapping[str, Any] = _NOTHING,
        code: Mapping[str, Any] = _NOTHING,
        environ: Mapping[str, str] = _NOTHING,
        overrides: Mapping[str, Any] = _NOTHING,
    ) -> Settings:
        """
        Return the defaults, overridden by each of these sources in turn.

        The *toml* file is for all crawls of a project, *spider* for one site, and *code* for one
        program. The user who runs it has the last word: *environ* is for every run on a machine,
        and *overrides*, from the command line, for this run.
        """
        return _loaded(
            chain(
                from_toml(toml) if toml is not None else (),
                from_mapping(spider, "spider"),
                from_mapping(code, "code"),
                from_environ(environ),
                from_mapping(overrides, "command line"),
            )
        )

    def header_fields(self) -> dict[str, str]:
        return general_fields(self.headers)

    def request_args(self) -> RequestArgs:
        return RequestArgs(
            accepted_domains=self.domains,
            max_depth=self.depth,
            include=self.include,
            exclude=self.exclude,
            max_chain=self.max_chain,
            max_hosts_per_domain=self.max_hosts_per_domain,
            max_pages_per_host=self._host_cap,
            max_redirects=self.max_redirects,
            fingerprint=self.fingerprint,
            duplicate_filter=self.duplicate_filter,
            agent=self._product_token(),
            politeness=self.politeness,
            retries=self.retries,
            budget=self.budget,
        )

    @property
    def _host_cap(self) -> int | None:
        """The pages of one host; a crawl of any domain has a cap unless one is given, or none."""
        if ANY_DOMAIN in self.domains and "max_pages_per_host" not in self.origins:
            return self.max_pages_per_host or _BROAD_CAP
        return self.max_pages_per_host

    def _product_token(self) -> str:
        """Return the part of the User-Agent that robots.txt can name: "Bot" of "Bot/1.0 (…)"."""
        token = re.match(r"[A-Za-z_-]+", self.user_agent or "")
        return token[0] if token else "crawler"

    def data_args(self) -> DataArgs:
        return self.pools

    def module_args(
        self,
        downloaders: Sequence[Downloader],
        analyzers: Sequence[Analyzer],
        pipelines: Sequence[Pipeline],
    ) -> ModuleArgs:
        return ModuleArgs(
            downloaders,
            analyzers,
            pipelines,
            download_workers=self.concurrency,
            analyze_workers=self.analyze_workers,
            pipeline_workers=self.pipeline_workers,
            time_limit=self.time_limit,
            max_links=self.max_links_per_page,
            memory=self.memory,
        )

    def fetch(self) -> CurlFetch:
        """Return a new client, with an address guard of its own."""
        return CurlFetch(
            limits=self.limits,
            user_agent=user_agent(self.user_agent, self.contact),
            verify=self.verify,
            ca_file=self.ca_file,
            max_connections=max(_CONNECTIONS, self.concurrency),
            allow_address=any_address if self.allow_private else AddressGuard(self.allow_addresses),
        )

    @staticmethod
    def describe() -> list[Described]:
        return [
            Described(setting.name, setting.kind, _value(setting, _DEFAULTS), setting.help)
            for setting in SETTINGS
        ]

    def explain(self, *names: str) -> list[Explained]:
        """Return the value and its source for the named settings, or for all."""
        return [self._explained(find(name)) for name in names or [s.name for s in SETTINGS]]

    def _explained(self, setting: Setting) -> Explained:
        default = Given(setting.name, _value(setting, _DEFAULTS), "default")
        *overridden, last = default, *self.origins.get(setting.name, ())
        value = _value(setting, self)
        if value != last.value:
            overridden, last = [*overridden, last], Given(setting.name, value, "code")
        return Explained(
            setting.name, setting.kind, value, last.source, tuple(reversed(overridden))
        )

    def __repr__(self) -> str:
        changed = [
            f"{setting.name}={setting.kind.write(_value(setting, self))}"
            for setting in SETTINGS
            if _value(setting, self) != _value(setting, _DEFAULTS)
        ]
        return f"<Settings {' '.join(changed) or 'as by default'}>"


def _value(setting: Setting, settings: Settings) -> Any:
    return attrgetter(setting.path)(settings)


def _loaded(everything: Iterable[Given]) -> Settings:
    """Return the settings with these values; raise ValueError with all that is wrong with them."""
    origins: dict[str, list[Given]] = {}
    values: dict[Setting, Any] = {}
    problems: list[str] = []
    for given in everything:
        try:
            setting, value = _checked(given)
        except ValueError as problem:
            problems.append(str(problem))
            continue
        values[setting] = value
        origins.setdefault(setting.name, []).append(Given(setting.name, value, given.source))
    if problems:
        raise ValueError("; ".join(problems))
    return replace(_with(values), origins=origins)


def _checked(given: Given) -> tuple[Setting, Any]:
    try:
        setting = find(given.name)
        value = _accept(setting, given.value)
        _try(setting, value)
    except ValueError as error:
        raise ValueError(f"{error} (from {given.source})") from None
    return setting, value


def _accept(setting: Setting, given: object) -> Any:
    try:
        return setting.kind.value(given)
    except ValueError as error:
        raise ValueError(f"{setting.name}: expected {error}, not {_shown(given)}") from None


def _shown(given: object) -> str:
    return f"{hide_passwords(repr(given)):.100}"


def _try(setting: Setting, value: Any) -> None:
    """Check *value* alone with the defaults, so that an error can only mean this setting."""
    try:
        _with({setting: value})
    except ValueError as error:
        raise ValueError(f"{setting.name}: {_PART.sub('', str(error))}") from None


def _with(values: Mapping[Setting, Any]) -> Settings:
    """Return the defaults with these *values* instead."""
    own: dict[str, Any] = {}
    grouped: dict[str, dict[str, Any]] = {}
    for setting, value in values.items():
        (grouped.setdefault(setting.group, {}) if setting.group else own)[setting.field] = value
    for group, parts in grouped.items():
        own[group] = replace(getattr(_DEFAULTS, group), **parts)
    return Settings(**own)


_DEFAULTS = Settings()
