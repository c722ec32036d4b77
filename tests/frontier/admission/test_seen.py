import resource
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.admission.fingerprint import Fingerprint
from crawler.frontier.admission.seen import (
    BloomSeen,
    ExactSeen,
    MmapSeen,
    TemporaryMmapSeen,
    check_duplicate_filter,
)

fingerprint = Fingerprint()


def keys(*numbers):
    return [fingerprint.of(f"http://example.org/{number}") for number in range(*numbers)]


def filters(seen):
    return len(seen._filters)


@pytest.fixture
def mapped(tmp_path):
    """Open a MmapSeen, always on the same files."""
    pytest.importorskip("pybloomfilter")
    opened = []

    def make(**options):
        opened.append(MmapSeen(tmp_path / "seen", **options))
        return opened[-1]

    yield make
    for seen in opened:
        seen.close()


@pytest.fixture
def temporary(tmp_path):
    pytest.importorskip("pybloomfilter")
    return lambda **options: TemporaryMmapSeen(directory=tmp_path, **options)


def made(request):
    return BloomSeen if request.param == "bloom" else request.getfixturevalue(request.param)


@pytest.fixture(params=["exact", "bloom", "mapped", "temporary"])
def make(request):
    """Make a Seen of each kind, with options for those that take any."""
    return (lambda **options: ExactSeen()) if request.param == "exact" else made(request)


@pytest.fixture(params=["bloom", "mapped", "temporary"])
def make_bloom(request):
    return made(request)


def test_a_key_is_new_once(make):
    seen = make()
    key, other = keys(2)

    assert [seen.add(key), seen.add(key), seen.add(other), seen.add(key)] == [
        True,
        False,
        True,
        False,
    ]
    assert len(seen) == 2


def test_exact_says_once_that_a_key_is_new():
    seen = ExactSeen()

    assert [seen.add(each) for each in (b"a", b"b", b"a", b"a", b"b")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert len(seen) == 2


def test_to_ask_for_a_key_is_not_to_add_it(make):
    seen = make(capacity=2)
    added, others = keys(6)[:3], keys(6)[3:]

    for key in added:
        seen.add(key)

    assert [key in seen for key in (*added, *others, *others)] == [True] * 3 + [False] * 6
    assert len(seen) == 3


def test_many_keys_can_be_added_at_once(make):
    seen = make(capacity=10)
    seen.add(keys(1)[0])
    seen.update(keys(1, 50))

    assert len(seen) == 50
    assert not any(map(seen.add, keys(50)))
    assert seen.add(keys(50, 51)[0])


def test_nothing_is_left_of_temporary_files(temporary, tmp_path):
    seen = temporary(capacity=10)
    seen.update(keys(50))

    assert not list(tmp_path.iterdir())
    assert not any(map(seen.add, keys(50)))


def test_a_filter_that_cannot_be_had_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybloomfilter", None)

    check_duplicate_filter("bloom")
    with pytest.raises(ValueError, match=r"needs pybloomfiltermmap3: .*mmap"):
        check_duplicate_filter("mmap")
    with pytest.raises(ValueError, match="one of bloom, exact, mmap, off, not 'set'"):
        check_duplicate_filter("set")


def test_an_empty_one_has_no_keys(make):
    assert len(make()) == 0


@pytest.mark.parametrize(
    "key", [bytes(16), b"\xff" * 16, b"\x80" + bytes(15), b"\x7f" + b"\xff" * 15]
)
def test_any_16_bytes_are_a_key(make, key):
    seen = make()

    assert seen.add(key)
    assert not seen.add(key)
    assert seen.add(b"\x01" * 16)


def test_no_key_is_forgotten_however_many_follow(make):
    seen = make(capacity=100)
    many = keys(5000)

    assert all(map(seen.add, many))
    assert not any(map(seen.add, many))
    assert len(seen) == len(many)


@settings(max_examples=30)
@given(st.lists(st.binary(min_size=16, max_size=16)))
def test_bloom_says_what_exact_says(given_keys):
    bloom, exact = BloomSeen(capacity=3), ExactSeen()

    assert [bloom.add(key) for key in given_keys] == [exact.add(key) for key in given_keys]
    assert len(bloom) == len(exact)


def test_filters_are_added_when_the_last_is_full_each_twice_as_large(make_bloom):
    seen = make_bloom(capacity=1000)
    grown = []
    for number, key in enumerate(keys(7001)):
        seen.add(key)
        if filters(seen) > len(grown):
            grown.append((number, seen.size))

    assert [number for number, _ in grown] == [0, 1000, 3000, 7000]
    first, *_, all_four = [size for _, size in grown]
    assert 15 < all_four / first < 18


@pytest.mark.parametrize(("rate", "capacity"), [(1e-1, 200), (1e-2, 500)])
def test_errors_stay_below_the_rate_however_often_it_grows(make_bloom, rate, capacity):
    seen = make_bloom(capacity=capacity, error_rate=rate)
    distinct = keys(127 * capacity)

    new = sum(map(seen.add, distinct))

    assert filters(seen) == 7
    assert len(seen) == new
    assert 0.7 * rate < 1 - new / len(distinct) < rate


def test_at_the_default_rate_no_error_is_met(make_bloom):
    seen = make_bloom(capacity=2000)

    assert all(map(seen.add, keys(100_000)))


def test_ten_million_keys_fit_in_80_megabytes():
    seen = BloomSeen()
    while seen._capacity < 10_000_000:
        seen._grow()

    assert seen.size < 80e6


@pytest.mark.long
@pytest.mark.timeout(300)
def test_ten_million_keys_take_80_megabytes_of_memory():
    seen = BloomSeen()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(10_000_000):
        assert seen.add(fingerprint.of(f"http://example.org/{number}"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024

    assert len(seen) == 10_000_000
    assert grown < 80e6, grown


@pytest.mark.parametrize("options", [{"capacity": 0}, {"capacity": -1}])
def test_a_bad_capacity_is_refused(make_bloom, options):
    with pytest.raises(ValueError, match="capacity must be 1 or more"):
        make_bloom(**options)


@pytest.mark.parametrize("rate", [0, 1, -0.1, 1.5, float("nan")])
def test_a_bad_rate_is_refused(make_bloom, rate):
    with pytest.raises(ValueError, match="error_rate must be between 0 and 1"):
        make_bloom(error_rate=rate)


def test_repr():
    seen = BloomSeen(capacity=1000)
    for key in keys(1500):
        seen.add(key)

    assert repr(seen) == "<BloomSeen 1,500 keys in 2 filters, 0.0 MB>"


def test_files_that_exist_are_used_further(mapped):
    before = mapped(capacity=1000, error_rate=2e-9)
    assert all(map(before.add, keys(4500)))
    before.close()

    after = mapped(capacity=7, error_rate=0.5)

    assert filters(after) == 3
    assert abs(len(after) - 4500) < 45
    assert not any(map(after.add, keys(4500)))
    assert all(map(after.add, keys(4500, 20_000)))
    assert [bloom.capacity for bloom in after._filters[::-1]] == [
        1000,
        2000,
        4000,
        8000,
        16000,
    ]
    assert [bloom.error_rate for bloom in after._filters[::-1]] == [
        pytest.approx(0.9e-9 / 2**place, rel=1e-6, abs=0) for place in range(5)
    ]


def test_files_without_keys_can_be_reopened(mapped):
    mapped(capacity=1000).close()

    assert len(mapped(capacity=1000)) == 0


def test_what_was_added_is_in_the_files_at_once(mapped):
    """As after a crash: nothing was closed."""
    assert all(map(mapped(capacity=1000).add, keys(1500)))

    assert not any(map(mapped(capacity=1000).add, keys(1500)))


def test_a_file_that_was_not_finished_is_made_again(mapped, tmp_path):
    (tmp_path / "seen.0.new").write_bytes(b"half a head")

    seen = mapped(capacity=1000)

    assert all(map(seen.add, keys(10)))
    assert [path.name for path in tmp_path.iterdir()] == ["seen.0"]


def test_a_file_of_another_kind_is_not_overwritten(mapped, tmp_path):
    (tmp_path / "seen.0").write_bytes(b"my thesis" * 1000)

    with pytest.raises(ValueError, match=r"seen\.0"):
        mapped()

    assert (tmp_path / "seen.0").read_bytes() == b"my thesis" * 1000


def test_without_the_package_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pybloomfilter", None)

    with pytest.raises(ImportError, match=r"pip install .*\[mmap\]"):
        MmapSeen(tmp_path / "seen")


def test_the_package_is_imported_only_when_asked_for():
    program = (
        "import sys, crawler.frontier.admission.seen; sys.exit('pybloomfilter' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
