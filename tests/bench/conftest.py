import pytest

from ..cli.conftest import crawler

#: Whatever the exit code is.
ANY = None


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Run a command of the group; its results go to a history of their own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    def run(*words, code=0):
        done = crawler("bench", *words, cwd=tmp_path)
        assert code in (done.returncode, ANY), done.stderr
        return done

    return run
