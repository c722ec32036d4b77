import pytest

from crawler.scheduler.off_cpu import OffCpu


@pytest.fixture
def schedstat(tmp_path):
    """Where the kernel says how long a thread worked and waited, in nanoseconds."""
    path = tmp_path / "schedstat"
    path.write_text("1000000000 500000000 7")
    return path


@pytest.mark.parametrize(
    ("worked", "waited", "late", "lost"),
    [
        (2.0, 0.5, 0.0, 0.0),  # it worked all the time
        (1.0, 0.5, 0.0, 0.0),  # it slept
        (1.5, 2.5, 0.0, 2.0),  # it waited for a CPU
        (1.0, 0.5, 60.0, 60.0),  # the process was stopped
        (4.0, 0.5, 3.0, 0.0),  # it held the interpreter
    ],
)
def test_time_is_lost_by_waiting_for_a_cpu_and_by_stopping(schedstat, worked, waited, late, lost):
    off_cpu = OffCpu(schedstat)

    schedstat.write_text(f"{worked * 1e9:.0f} {waited * 1e9:.0f} 9")

    assert off_cpu.lost(late) == lost
    assert off_cpu.lost(0.0) == 0.0


def test_where_nothing_is_known_no_time_is_lost(tmp_path):
    assert OffCpu(tmp_path / "missing").lost(60.0) == 0.0
