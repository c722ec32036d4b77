"""nginx as the server of a site: one worker, on the core for servers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from ..measuring.child import SERVER, BenchError, Child
from .docs import Docs
from .site import Site

#: Where distributions install it; these are not in the PATH of every user.
_PLACES = ("/usr/sbin", "/usr/local/sbin")
#: The number of characters of its log that an error quotes.
_QUOTED = 500
_CONFIGURATION = """
daemon off; master_process off; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 4096; }}
http {{
    log_format paths $request_uri; map $status $page {{ 200 1; default 0; }}
    access_log {place}/paths paths if=$page;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    sendfile on; tcp_nopush on; keepalive_requests 1000000;
    default_type text/html;
    server {{
        listen 127.0.0.1:{port} backlog=4096; {second} root "{root}";
        {locations}
    }}
}}
"""


def executable() -> str | None:
    """Return the path of nginx, or None if it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_PLACES))
    return shutil.which("nginx", path=path)


def become(command: list[str]) -> None:
    """Replace this process by another program, which stays on the same core and ends with the parent."""
    os.execv(command[0], command)  # noqa: S606 - no shell is involved


class Nginx:
    """Serves pages from files: generated ones from *place*. Its access log counts them."""

    server = "nginx"

    def __init__(self, shape: Site, place: Path) -> None:
        self.shape = shape
        self._place = place
        self._read = 0

    @classmethod
    @contextmanager
    def serving(cls, shape: Site) -> Iterator[Self]:
        with TemporaryDirectory(prefix="crawler-bench-") as folder:
            site = cls(replace(shape, port=_free_port()), Path(folder))
            site._write()
            process = subprocess.Popen(site._command(), start_new_session=True)
            try:
                site._wait(process)
                yield site
            finally:
                process.terminate()
                process.wait(10)

    def counts(self) -> tuple[int, int]:
        self._end_requests()
        with (self._place / "paths").open(encoding="ascii") as log:
            log.seek(self._read)
            paths = log.read().split()
            self._read = log.tell()
        return len(set(paths)), len(paths)

    def _end_requests(self) -> None:
        """Ask for a page that is not there: its one worker logs each response before it reads on."""
        with socket.create_connection(("127.0.0.1", self.shape.port), timeout=60) as asking:
            asking.sendall(b"GET /no-such-page HTTP/1.0\r\n\r\n")
            while asking.recv(4096):
                pass

    def errors(self) -> str:
        log = self._place / "errors"
        return log.read_text(errors="replace")[-_QUOTED:].strip() if log.exists() else ""

    def _command(self) -> list[str]:
        place = str(self._place)
        files = ["-c", f"{place}/conf", "-e", f"{place}/errors", "-p", place]
        arguments = {"command": [executable(), *files]}
        return Child(
            "crawler.bench.sites.nginx:become", arguments, patched=False, core=SERVER
        ).command

    def _write(self) -> None:
        # The worker of nginx may run as another user, who must be able to read the pages.
        self._place.chmod(0o755)
        port = self.shape.port
        text = _CONFIGURATION.format(
            place=self._place,
            port=port,
            # Host names below localhost resolve to both addresses, if there are two.
            second=f"listen [::1]:{port} backlog=4096;" if _has_ipv6() else "",
            root=self._root(),
            locations=self.shape.locations,
        )
        (self._place / "conf").write_text(text, encoding="utf-8")

    def _root(self) -> str:
        """Return the folder of the pages, after generating them if need be."""
        if isinstance(self.shape, Docs):
            return self.shape.root
        (self._place / "page").mkdir()
        for number in range(self.shape.pages):
            (self._place / "page" / str(number)).write_bytes(self.shape.page(number))
        return str(self._place)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.shape.port), timeout=1).close()
            except OSError:
                time.sleep(0.01)
            else:
                return
        raise BenchError(f"nginx did not start: {self.errors()}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
