"""nginx as the server of a site: one worker, on the core of the servers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Self

from .child import SERVER, pin
from .shape import Shape

_CONFIGURATION = """
daemon off; master_process off; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 4096; }}
http {{
    log_format paths $request_uri; map $status $page {{ 200 1; default 0; }}
    access_log {place}/paths paths if=$page;
    client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
    sendfile on; tcp_nopush on; keepalive_requests 1000000;
    default_type text/html; charset utf-8;
    open_file_cache max=200000 inactive=600s; open_file_cache_valid 600s;
    server {{
        listen 127.0.0.1:{port} backlog=4096; {second} root {place};
        location = / {{ try_files /page/0 =404; }}
        location /page/ {{ }}
        location / {{ return 404; }}
    }}
}}
"""


class Nginx:
    """Serves the pages from files; its log of paths is what counts them."""

    kind = "nginx"

    def __init__(self, shape: Shape) -> None:
        self.shape = replace(shape, port=_free_port())
        self._folder = tempfile.TemporaryDirectory(prefix="crawler-bench-")
        self._place = Path(self._folder.name)
        self._read = 0
        self._write()
        command = ["nginx", "-c", str(self._place / "conf"), "-e", str(self._place / "errors")]
        # Its core is inherited: pinned here for as long as it takes to begin.
        cores = os.sched_getaffinity(0) if sys.platform == "linux" else set()
        pin(SERVER)
        self._nginx = subprocess.Popen([*command, "-p", str(self._place)])
        if cores:
            os.sched_setaffinity(0, cores)
        self._wait()

    def counts(self) -> tuple[int, int]:
        with (self._place / "paths").open(encoding="ascii") as log:
            log.seek(self._read)
            paths = log.read().split()
            self._read = log.tell()
        return len({"/" if path == "/page/0" else path for path in paths}), len(paths)

    def _write(self) -> None:
        # Not root: its pages are for a worker that may be anybody.
        self._place.chmod(0o755)
        (self._place / "page").mkdir()
        for number in range(self.shape.pages):
            (self._place / "page" / str(number)).write_bytes(self.shape.page(number))
        port = self.shape.port
        # Names of this machine mean both of its addresses, where there are two.
        second = f"listen [::1]:{port} backlog=4096;" if _has_ipv6() else ""
        text = _CONFIGURATION.format(place=self._place, port=port, second=second)
        (self._place / "conf").write_text(text, encoding="utf-8")

    def _wait(self) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self._nginx.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.shape.port), timeout=1).close()
            except ConnectionRefusedError:
                time.sleep(0.01)
            else:
                return
        self._nginx.kill()
        raise RuntimeError(f"nginx did not start: {(self._place / 'errors').read_text()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._nginx.terminate()
        self._nginx.wait(10)
        self._folder.cleanup()


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
