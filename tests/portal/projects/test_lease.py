import subprocess
import sys

from crawler.portal.projects.lease import Lease

HOLDER = """
import sys, time
from pathlib import Path
from crawler.portal.projects.lease import Lease
print(Lease(Path(sys.argv[1])).take(), flush=True)
time.sleep(300)
"""


def test_one_holds_it_until_it_gives_it_back(tmp_path):
    one, other = Lease(tmp_path / "new" / "lock"), Lease(tmp_path / "new" / "lock")

    assert [one.take(), one.take(), other.take(), other.is_held] == [True, False, False, False]

    one.give_back()
    assert other.take()
    other.give_back()


def test_a_kill_gives_it_back(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    own = Lease(tmp_path / "lock")

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "True\n"
        assert not own.take()
        holder.kill()

    assert own.take()
    own.give_back()
