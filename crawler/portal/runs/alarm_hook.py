"""AlarmHook: sends each new alarm to one URL."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable
from http.client import HTTPException
from urllib.request import Request, urlopen

import gevent

from ..projects.lease import Lease
from ..store.alarms import Alarm, Alarms

log = logging.getLogger(__name__)

#: Seconds between two looks for new alarms, for one answer, and until an alarm is sent again.
_INTERVAL, _TIMEOUT, _AGAIN = 5.0, 10.0, 60.0


class AlarmHook:
    """
    POSTs alarms as JSON to *url* until each was answered with 2xx.

    Of the portals in a directory the one that holds the *lease* sends them. An alarm may be sent
    twice, if the portal was killed before its answer was written down.
    """

    def __init__(
        self, url: str, alarms: Alarms, portal_url: Callable[[], str], lease: Lease
    ) -> None:
        self._url = url
        self._alarms = alarms
        self._portal_url = portal_url
        self._lease = lease

    def serve(self) -> None:
        """Send what is new, for ever."""
        while True:
            gevent.sleep(_AGAIN if self._has_failed() else _INTERVAL)

    def step(self) -> None:
        """Send the alarms that were not sent yet; raise OSError if the URL does not take one."""
        self._lease.take()
        for alarm in self._alarms.unsent() if self._lease.is_held else ():
            self._send(alarm)
            self._alarms.set_sent(alarm.id)

    def stop(self) -> None:
        """Let another portal send what is new."""
        self._lease.give_back()

    def _has_failed(self) -> bool:
        try:
            self.step()
        except (OSError, ValueError, sqlite3.Error) as error:
            log.warning("an alarm could not be sent, and is sent again: %s", error)
            return True
        return False

    def _send(self, alarm: Alarm) -> None:
        facts = {"subject": alarm.subject, "text": alarm.text, "since": alarm.since}
        body = json.dumps(facts | {"project": alarm.project, "portal": self._portal_url()})
        headers = {"Content-Type": "application/json"}
        request = Request(self._url, body.encode(), headers)  # noqa: S310
        try:
            with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
                answer.read(1)
        except HTTPException as error:  # of an answer that is not HTTP, or a wrong port
            raise OSError(f"{type(error).__name__}: {error}") from error


def wrong_hook(url: str) -> str:
    """Return why alarms cannot be sent to *url*; "" if they can."""
    return "" if url.startswith(("http://", "https://")) else "an http or https URL is needed"
