"""Minutes of fuzzing for every target: ``make fuzz``, or ``make fuzz SECONDS=10 ARGS='-k robots'``."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .targets import TARGETS

#: How long each target is fuzzed.
SECONDS = int(os.environ.get("FUZZ_SECONDS", "120"))


@pytest.mark.fuzz
@pytest.mark.skipif(find_spec("atheris") is None, reason="needs the extra fuzz")
@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_that_is_found_fails(name):
    command = [sys.executable, Path(__file__).with_name("fuzz.py"), name, str(SECONDS)]

    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)

    assert ended.returncode == 0, ended.stderr[-4000:]
    print(ended.stderr[ended.stderr.rfind("Done") :])
