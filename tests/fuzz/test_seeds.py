"""The seeds of the fuzzer, and what it has found, pass through every target without a fault."""

from pathlib import Path

import pytest

from .targets import TARGETS, check, repeated

SEEDS = Path(__file__).parent / "seeds"


def test_every_target_has_seeds():
    assert {path.name for path in SEEDS.iterdir()} == TARGETS.keys()
    assert all(any(folder.iterdir()) for folder in SEEDS.iterdir())


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_take_linear_time(name):
    for path in sorted((SEEDS / name).iterdir()):
        check(name, repeated(path.read_bytes()))


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("folder", TARGETS)
def test_seeds_are_read_without_a_fault(name, folder):
    """Each target also gets the seeds of the others."""
    for path in sorted((SEEDS / folder).iterdir()):
        check(name, path.read_bytes())
