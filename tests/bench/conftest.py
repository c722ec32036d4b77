import os
import subprocess
import sys

import pytest


@pytest.fixture
def bench(tmp_path):
    """Run a command of the group; its results go to a history of their own."""

    def run(*words, check=True):
        command = [sys.executable, "-m", "crawler", "bench", *words]
        environment = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=50, check=check, env=environment
        )

    return run
