"""``crawler cluster check`` tells what is wrong with a Redis."""

import json
import socket

from crawler.cluster.embedded_server import EmbeddedServer

from ...conftest import crawler


def test_a_fit_server_passes_and_one_without_a_log_does_not(tmp_path):
    with EmbeddedServer(tmp_path / "a") as server:
        fit = crawler("cluster", "check", "--redis", server.url, cwd=tmp_path)
    with EmbeddedServer(tmp_path / "b", "--appendonly", "no") as server:
        unfit = crawler("cluster", "check", "--redis", server.url, "--json", cwd=tmp_path)

    assert fit.returncode == 0, fit.stderr
    assert "appendfsync        everysec" in fit.stdout
    assert unfit.returncode == 5
    [fatal] = [one for one in json.loads(unfit.stdout) if one["is_fatal"]]
    assert fatal["name"] == "appendonly"


def test_no_server_and_no_address_are_errors_with_a_remedy(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"redis://127.0.0.1:{free.getsockname()[1]}"

    missing = crawler("cluster", "check", cwd=tmp_path)
    unreachable = crawler("cluster", "check", "--redis", away, cwd=tmp_path)

    assert (missing.returncode, unreachable.returncode) == (2, 6)
    assert "CRAWLER_REDIS" in missing.stderr
    assert "start the server there" in unreachable.stderr
