"""Real git servers on the loopback interface: one speaks https, one ssh."""

import getpass
import os
import shutil
import ssl
import subprocess
from base64 import b64encode
from contextlib import contextmanager
from pathlib import Path

import gevent
import trustme
from gevent import socket
from gevent.pywsgi import WSGIServer

_PASSED = ("PATH_INFO", "QUERY_STRING", "REQUEST_METHOD", "CONTENT_TYPE")
_CONFIG = """
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin prohibit-password
"""


class HttpsGit:
    """Serves the repositories below *root* to *user*, by `git http-backend`."""

    def __init__(self, root, user, password):
        self._root = root
        self._expected = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
        self.refused = 0
        self.authority = trustme.CA()

    @contextmanager
    def running(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert("localhost").configure_cert(context)
        server = WSGIServer(("127.0.0.1", 0), self._answer, log=None, ssl_context=context)
        server.start()
        try:
            yield f"https://localhost:{server.server_port}/"
        finally:
            server.stop(timeout=1)

    def _answer(self, environ, start):
        if environ.get("HTTP_AUTHORIZATION") != self._expected:
            self.refused += 1
            start("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="git"')])
            return [b""]
        body = environ["wsgi.input"].read()
        done = subprocess.run(
            ["git", "http-backend"],
            env=self._variables(environ, body),
            input=body,
            capture_output=True,
            timeout=120,
            check=True,
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = dict(fields).get("Status", "200 OK")
        start(status, [(name, value) for name, value in fields if name != "Status"])
        return [rest]

    def _variables(self, environ, body):
        own = {
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": environ.get("HTTP_GIT_PROTOCOL", ""),
            "HTTP_CONTENT_ENCODING": environ.get("HTTP_CONTENT_ENCODING", ""),
            "CONTENT_LENGTH": str(len(body)),
            "PATH": os.environ["PATH"],
        }
        return own | {name: environ.get(name, "") for name in _PASSED}


def sshd():
    """Return the ssh server of the system; None if there is none."""
    return shutil.which("sshd") or shutil.which("/usr/sbin/sshd")


class SshGit:
    """An ssh server of the user of this process, with keys of its own in *folder*."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("host", "key"):
            self.make_key(name)

    def make_key(self, name):
        (self.folder / name).unlink(missing_ok=True)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
        subprocess.run(words, check=True, timeout=120)

    @contextmanager
    def running(self, port):
        """Yield the start of URLs once it listens on *port*."""
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd of root does not start else
        config = self.folder / "config"
        config.write_text(_CONFIG.format(folder=self.folder))
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sshd(), "-D", "-e", "-f", str(config), "-p", str(port)], stderr=log
            )
        try:
            _wait_for(port, process)
            yield f"ssh://{getpass.getuser()}@127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(120)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _wait_for(port, process):
    with gevent.Timeout(120):
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=120).close()
            except OSError:
                gevent.sleep(0.02)
            else:
                return
    raise AssertionError("sshd has ended")
