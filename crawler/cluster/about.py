"""What a job is about: the spider and the settings that every scheduler of it must have."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from .._distribution import __version__
from ..credentials import hide_passwords, without_credentials
from ..errors import ClusterError
from ..media.files_pipeline import FilesPipeline
from ..middleware.download.http_cache import HttpCache
from ..settings import SETTINGS, Settings
from ..spider import Spider, named_urls

#: Settings that each scheduler has for itself: they do not shape the result, or are secret.
_OWN = frozenset(
    {
        *("concurrency", "analyze_workers", "analyzers", "pipeline_workers", "time_limit"),
        *("ca_file", "proxy", "headers", "auth", "allow_private", "allow_addresses"),
    }
)
_OWN_GROUPS = ("memory", "pools", "cluster")
#: Settings of a whole crawl that are not divided among its schedulers.
_NOT_SHARED = frozenset({"budget.bandwidth", "budget.min_rate", "budget.patience"})
#: What differs, in words.
_NAMES = {
    "spider": "the spider",
    "urls": "the start URLs",
    "source": "the source of the spider",
    "arguments": "the arguments of the spider (-a)",
    "version": "the version of the crawler",
}


def about(spider: Spider, settings: Settings, arguments: Iterable[str] = ()) -> dict[str, Any]:
    """Return the description of a job of *spider*, as JSON values; it has no passwords."""
    return {
        "spider": f"{type(spider).__module__}.{type(spider).__qualname__}",
        "urls": [without_credentials(url) for url in named_urls(spider)],
        "source": _source(spider),
        "arguments": hashlib.sha256(repr(sorted(arguments)).encode()).hexdigest()[:16],
        "version": __version__,
        "settings": job_settings(settings),
    }


def job_settings(settings: Settings) -> dict[str, str]:
    """Return the settings that shape the result, as text, if they are not the defaults."""
    values, defaults = _texts(settings), _texts(Settings())
    return {name: text for name, text in values.items() if text != defaults[name]}


def differences(job: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what is different here from the *job*."""
    for name, label in _NAMES.items():
        if job.get(name) != here[name]:
            yield f"{label}: {job.get(name)} in the job, {here[name]} here"
    theirs, ours, defaults = job["settings"], here["settings"], _texts(Settings())
    for name in sorted({*theirs, *ours}):
        default = defaults.get(name, "")
        if theirs.get(name, default) != ours.get(name, default):
            yield (
                f"the setting {name}: {theirs.get(name, default)} in the job, "
                f"{ours.get(name, default)} here"
            )


def refuse_different(name: str, job: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raise ClusterError if a scheduler with *here* would not do the same as others of the *job*."""
    found = list(differences(job, here))
    if found:
        raise ClusterError(
            f"the job {name!r} is about something else: {hide_passwords('; '.join(found))}; use the "
            "same spider, arguments, version and settings on all machines"
        )


def refuse_unsupported(spider: Spider, settings: Settings) -> None:
    """Raise ClusterError, naming it, if the crawl needs what a cluster does not have yet."""
    found = list(_unsupported(spider, settings))
    if found:
        raise ClusterError(
            f"a cluster cannot do this yet: {'; '.join(found)}; leave it out, or crawl in one process"
        )


def _unsupported(spider: Spider, settings: Settings) -> Iterator[str]:
    defaults = Settings()
    for setting in SETTINGS:
        get = attrgetter(setting.path)
        if setting.path in _NOT_SHARED and get(settings) != get(defaults):
            yield f"the setting {setting.name}, which all schedulers would have to share"
    if settings.duplicate_filter == "off":
        yield "the setting duplicate_filter=off"
    middlewares: Collection[Any] = spider.download_middlewares
    if any(one is HttpCache or isinstance(one, HttpCache) for one in middlewares):
        yield "the middleware HttpCache"
    for one in (*settings.pipelines, *spider.pipelines):
        kind = one if isinstance(one, type) else type(one)
        if issubclass(kind, FilesPipeline):
            yield f"the pipeline {kind.__name__}, whose files would be spread over machines"


def by_domain(settings: Settings) -> bool:
    """Return whether hosts of one domain must be in one shard, because they share their limits."""
    politeness = settings.politeness
    return politeness.share != "host" or politeness.per_ip is not None


def _texts(settings: Settings) -> dict[str, str]:
    return {
        setting.name: setting.kind.write(attrgetter(setting.path)(settings))
        for setting in SETTINGS
        if setting.name not in _OWN and setting.group not in _OWN_GROUPS
    }


def _source(spider: Spider) -> str:
    """Return a hash of the spider's file, and of the modules beside it that are imported."""
    file = getattr(sys.modules.get(type(spider).__module__), "__file__", None)
    if file is None or Path(file).is_relative_to(Path(__file__).parents[1]):
        return ""
    folder = Path(file).resolve().parent
    beside = {
        Path(place).resolve()
        for module in list(sys.modules.values())
        if (place := getattr(module, "__file__", None))
    }
    hashed = hashlib.sha256()
    for path in sorted(path for path in beside if path.parent == folder):
        hashed.update(path.name.encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()[:16]
