"""JobRecord: what Redis knows of a job as a whole; created, read, controlled and removed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..credentials import hide_passwords
from ..errors import ClusterError
from ..frontier import Fingerprint
from ..settings import ClusterGroup
from .blob import FORMAT
from .keys import Keys
from .redis import connect, errors_of
from .scripts import SCRIPTS
from .server_check import findings, server_facts

#: Shards of a scheduler, where all of them are known: each costs a little with every commit.
SHARDS_EACH = 4
#: What a job can be asked, and the status that it has then; a restart keeps its status.
COMMANDS = {"pause": "paused", "resume": "running", "restart": "", "stop": "stopped"}


@dataclass(frozen=True)
class JobRecord:
    """
    A job as it was created.

    *about* describes the spider and the settings that every scheduler of the job must have.
    """

    keys: Keys
    ttl: float
    fingerprint: Fingerprint
    about: Mapping[str, Any]
    created: float


def create_job(
    url: str,
    name: str,
    about: Mapping[str, Any],
    *,
    shards: int = ClusterGroup.shards,
    ttl: float = ClusterGroup.ttl,
    fingerprint: Fingerprint | None = None,
    unsafe: bool = False,
) -> JobRecord:
    """Create the job *name*; raise ClusterError if there is one, or the server is unfit."""
    keys = Keys(name, shards)
    fields = {
        "format": FORMAT,
        "shards": shards,
        "ttl": ttl,
        "fingerprint": json.dumps((fingerprint or Fingerprint()).to_dict()),
        "about": json.dumps(about),
        "created": time.time(),
        "status": "running",
    }
    with closing(connect(url)) as client, errors_of(url):
        _refuse_unfit(url, client, unsafe=unsafe)
        given = [part for pair in fields.items() for part in pair]
        if not SCRIPTS.call(client, "create", [keys.job, *keys.leases], *given):
            raise ClusterError(
                f"there is a job {name!r} at {hide_passwords(url)}: `crawler cluster join {name}` "
                f"works on it, `crawler cluster rm {name}` removes it"
            )
    return read_job(url, name)


def read_job(url: str, name: str) -> JobRecord:
    """Return the job *name*; raise ClusterError if there is none."""
    record = find_job(url, name)
    if record is None:
        raise ClusterError(
            f"there is no job {name!r} at {hide_passwords(url)}: start it with "
            f"`crawler cluster start SPIDER.py --job {name}`"
        )
    return record


def find_job(url: str, name: str) -> JobRecord | None:
    """Return the job *name*, None if there is none; raise ClusterError if it is of another format."""
    with closing(connect(url)) as client, errors_of(url):
        found = {key.decode(): value for key, value in client.hgetall(Keys(name).job).items()}
    if "format" not in found:
        return None
    if int(found["format"]) != FORMAT:
        raise ClusterError(
            f"the job {name!r} has the format {int(found['format'])}, and this crawler knows "
            f"{FORMAT}: use the version that has started it"
        )
    return JobRecord(
        Keys(name, int(found["shards"])),
        float(found["ttl"]),
        Fingerprint.from_dict(json.loads(found["fingerprint"])),
        json.loads(found["about"]),
        float(found["created"]),
    )


def control_job(url: str, name: str, command: str, who: str = "command line") -> str:
    """
    Send a command of COMMANDS to a job that is not finished; return the status before.

    The status is "" if there is no such job. A scheduler obeys whenever it sees the command.
    """
    keys, args = Keys(name), (command, COMMANDS[command], who)
    with closing(connect(url)) as client, errors_of(url):
        before: bytes = SCRIPTS.call(client, "control", [keys.job, keys.here, keys.changes], *args)
    return before.decode()


def remove_job(url: str, name: str) -> None:
    """Delete all keys of a job."""
    keys = read_job(url, name).keys
    with closing(connect(url)) as client, errors_of(url):
        client.unlink(*keys.all)


def _refuse_unfit(url: str, client: Any, *, unsafe: bool) -> None:
    for finding in findings(server_facts(client)):
        if finding.is_fatal and not (unsafe and finding.name == "appendonly"):
            raise ClusterError(
                f"{hide_passwords(url)} has {finding.name} {finding.value}: {finding.problem}; "
                f"{finding.remedy}"
            )
