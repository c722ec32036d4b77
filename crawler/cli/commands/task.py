"""``crawler task``: a client of a portal."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit
from uuid import uuid4

import click

from ...report.text import printable
from ..options import json_option, verbose_option

#: The variable with the token.
VARIABLE = "CRAWLER_PORTAL_TOKEN"
#: Seconds to wait for an answer, and between two questions about a run.
_TIMEOUT, _INTERVAL = 60.0, 1.0
#: The exit code of a run without one: it was taken from the queue, or its process has vanished.
_CODES = {"stopped": 3}


@click.group()
def task() -> None:
    """Run the tasks of a portal from a program or a terminal.

    A token is needed: add one on the page Tokens of the portal, and put it into the variable
    CRAWLER_PORTAL_TOKEN.

    Example: crawler task run quotes-daily --wait
    """


@task.command()
@click.argument("name")
@click.option("--wait", is_flag=True, help="Wait for the run, and exit with its exit code.")
@click.option(
    "--portal",
    "url",
    default="http://127.0.0.1:8800/",
    show_default=True,
    help="The URL of the portal.",
)
@json_option
@verbose_option
def run(name: str, wait: bool, url: str, as_json: bool) -> None:
    """Run the task NAME of a portal.

    Prints the URL of the run. With --wait the command ends with the run, and its exit code is
    that of the run: 0 and 1 finished, 3 stopped, 5 a quality gate was not met, 6 failed.

    Example: crawler task run quotes-daily --wait
    """
    portal = _Portal(url)
    [*found] = portal.ask("GET", f"tasks?name={quote(name, safe='')}")["tasks"]
    if not found:
        raise click.UsageError(f"the portal at {printable(url)} has no task {name!r}")
    answer = portal.ask("POST", f"tasks/{found[0]['id']}/run", {"Idempotency-Key": str(uuid4())})
    place = f"{url.rstrip('/')}/runs/{answer['id']}/"
    if not as_json:
        click.echo(place)
    while wait and answer["state"] in ("queued", "running"):
        time.sleep(_INTERVAL)
        answer = portal.ask("GET", f"runs/{answer['id']}")
    if as_json:
        click.echo(json.dumps(answer | {"url": place}))
    if wait:
        _exit(answer)


def _exit(run: Mapping[str, Any]) -> NoReturn:
    code = run["exit"]
    click.echo(f"{printable(run['task'])} #{run['number']}: {run['state']}", err=True)
    sys.exit(_CODES.get(run["state"], 6) if code is None else code)


class _Portal:
    """The API of the portal at *url*."""

    def __init__(self, url: str) -> None:
        self._token = os.environ.get(VARIABLE, "")
        if not self._token:
            raise click.UsageError(f"{VARIABLE} is not set: add a token on the page Tokens")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise click.UsageError(
                f"{url!r} is not the URL of a portal, such as http://127.0.0.1:8800/"
            )
        self._parts = parts

    def ask(self, method: str, route: str, headers: Mapping[str, str] | None = None) -> Any:
        """Return the answer; raise click.ClickException, with the reason, if there is none."""
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=_TIMEOUT)
        sent = {"Authorization": f"Bearer {self._token}"} | dict(headers or {})
        try:
            connection.request(
                method, f"{self._parts.path.rstrip('/')}/api/v1/{route}", headers=sent
            )
            answer = connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise OSError(f"no answer from the portal at {self._parts.netloc}: {error}") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise OSError(f"the portal refused: {printable(body.get('detail', answer.status))}")
        return body
