"""
Fuzzes one target with atheris, which is in the extra ``fuzz``.

    python tests/fuzz/fuzz.py robots 120

An input that fails is saved among the seeds of its target: kept there, it is tried by every test
run from then on. What was found on the way is kept in the folder for temporary files, for the
next run to begin with.
"""

import sys
import tempfile
from pathlib import Path
from zlib import crc32

import atheris

SEEDS = Path(__file__).parent / "seeds"
#: Instrumented code is slower than that of a crawl.
ALLOWANCE = 3.0
#: One input of so many is also tried many times over.
REPEATED = 16

with atheris.instrument_imports(include=["crawler"]):
    import targets


def main(name: str, seconds: str) -> None:
    corpus = Path(tempfile.gettempdir()) / "crawler-fuzz" / name
    corpus.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-artifact_prefix={SEEDS / name}/",
        "-max_len=20000",
        "-len_control=20",
        "-timeout=20",
        "-print_final_stats=1",
    ]
    arguments = [sys.argv[0], *options, str(corpus), str(SEEDS / name)]
    atheris.Setup(arguments, lambda data: check(name, data))
    atheris.Fuzz()


def check(name: str, data: bytes) -> None:
    targets.check(name, data, allowance=ALLOWANCE)
    if crc32(data) % REPEATED == 0:
        targets.check(name, targets.repeated(data), allowance=ALLOWANCE)


if __name__ == "__main__":
    main(*sys.argv[1:])
