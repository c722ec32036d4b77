"""A server that comes with the package."""

import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from crawler.cluster.embedded_server import EmbeddedServer
from crawler.cluster.redis import connect
from crawler.errors import ClusterError


def test_it_keeps_its_data_over_a_kill_and_only_its_user_reaches_it(tmp_path):
    server = EmbeddedServer(tmp_path / "s").start()
    with closing(connect(server.url)) as client:
        client.set("a", 1)
        assert client.config_get("port") == {"port": "0"}
    server.kill()

    with server, closing(connect(server.url)) as client:
        assert client.get("a") == b"1"
        assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700
    assert server.pid is None


def test_a_server_that_does_not_start_says_why(tmp_path):
    with pytest.raises(ClusterError, match="did not start: Bad directive"):
        EmbeddedServer(tmp_path / "s", "--nonsense", "1").start()


def test_a_path_that_is_too_long_for_a_socket_has_it_elsewhere(tmp_path):
    folder = tmp_path / ("x" * 120)

    with EmbeddedServer(folder) as server, closing(connect(server.url)) as client:
        client.set("a", 1)
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
        server.kill()
        assert not server.socket.parent.exists()
        server.start()
    assert [path for path in folder.rglob("*.aof") if path.stat().st_size]
    assert not server.socket.parent.exists()


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process that its parent ended"
)
def test_it_ends_when_the_process_that_started_it_is_killed(tmp_path):
    program = (
        "import sys, time; from crawler.cluster.embedded_server import EmbeddedServer as Server\n"
        "print(Server(sys.argv[1]).start().pid, flush=True); time.sleep(120)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        assert _runs(pid)
        parent.kill()
    end = time.monotonic() + 60
    while _runs(pid) and time.monotonic() < end:
        time.sleep(0.02)

    assert not _runs(pid)


def _runs(pid):
    """Return whether a process runs; a zombie that nobody waits for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
