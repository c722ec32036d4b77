"""A server that comes with the package."""

import stat
from contextlib import closing

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
