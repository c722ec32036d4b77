"""The state of a shard is what its batches say, wherever they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.cluster.blob import pack, unpack
from crawler.cluster.fold import (
    ShardState,
    admitted,
    fold,
    request_of,
    robots_body,
    robots_row,
    waits_again,
)
from crawler.cluster.journal import keys_by
from crawler.cluster.short_seen import SHORT
from crawler.data import Request
from crawler.frontier import Fingerprint
from crawler.frontier.durable.rows import key_of

KEY_OF = keys_by(Fingerprint("mmh3"))


def page(number, **fields):
    return Request(f"http://a.test/{number}", id=f"{number:x}", **fields)


@st.composite
def histories(draw):
    """Rows of requests that are admitted, wait again, move up and end, in an order that can be."""
    rows, waiting = [], []
    for number in range(1, draw(st.integers(1, 12))):
        rows.append(admitted(number, page(number, depth=3, meta={"n": number})))
        waiting.append(number)
        for _ in range(draw(st.integers(0, 2))):
            if not waiting:
                break
            which = draw(st.sampled_from(waiting))
            kind = draw(st.sampled_from("wmehkc"))
            if kind == "w":
                rows.append(waits_again(which, page(which, attempts=("status 503",))))
            elif kind == "m":
                rows.append(["m", which, 1, "http://a.test/"])
            elif kind == "c":
                expires = draw(st.sampled_from([None, 0.0, 2e9]))
                rows.append(["c", "", ["id", str(which), "a.test", 80, "/", False, expires]])
            elif kind == "k":
                rows.append(["k", which, 1])
            elif kind == "h":
                rows.append(["h", "a.test", 0, 5.0, "delay"])
            else:
                rows.append(["e", which])
                waiting.remove(which)
    return rows


def batches_of(rows, sizes):
    found, start = [], 0
    for seq, size in enumerate([*sizes, len(rows)], 1):
        found.append((seq, rows[start : start + size]))
        start += size
    return found


@given(histories(), st.lists(st.integers(0, 4), max_size=5))
def test_it_does_not_matter_where_the_batches_are_cut(rows, sizes):
    whole = fold(ShardState(), [(1, rows)], KEY_OF)
    cut = fold(ShardState(), batches_of(rows, sizes), KEY_OF)

    assert (cut.pending, cut.seen, cut.hosts) == (whole.pending, whole.seen, whole.hosts)


@given(histories(), st.integers(0, 5))
def test_folding_can_be_continued(rows, first):
    batches = batches_of(rows, [1, 2, 3, 1])
    state = fold(ShardState(), batches[:first], KEY_OF)

    assert fold(state, batches[first:], KEY_OF) == fold(ShardState(), batches, KEY_OF)


def test_a_request_comes_back_with_all_its_fields():
    request = page(
        7,
        depth=2,
        priority=3,
        found_on="http://a.test/",
        method="POST",
        body=b"\0x",
        meta={"a": [1]},
    )
    rows = unpack(pack([admitted(7, request)]))

    [row] = fold(ShardState(), [(1, rows)], KEY_OF).pending.values()
    assert request_of(row) == request


def test_where_a_request_was_redirected_to_counts_as_seen():
    rows = [admitted(1, page(1)), ["w", 1, "http://a.test/new", ["http://a.test/1"], []]]

    state = fold(ShardState(), [(1, rows)], KEY_OF)

    new = admitted(2, Request("http://a.test/new"))
    assert state.seen == KEY_OF(rows[0]) + KEY_OF(new)
    assert request_of(state.pending[1]).redirects == ("http://a.test/1",)


def test_a_missing_batch_is_noticed():
    with pytest.raises(ValueError, match="batch 1 is missing before batch 2"):
        fold(ShardState(), [(2, [])], KEY_OF)


def test_a_row_of_a_newer_version_is_not_passed_over():
    with pytest.raises(ValueError, match="a newer crawler"):
        fold(ShardState(), [(1, [["?", 1]])], KEY_OF)


def test_robots_txt_may_be_any_bytes():
    row = unpack(pack(robots_row("http://a.test", 5.0, b"\xff\0\n")))

    assert robots_body(row) == b"\xff\0\n"


def test_the_fingerprint_of_a_row_is_that_of_its_request():
    fingerprint = Fingerprint("mmh3")
    for request in (page(1), page(2, method="POST", body=b"x"), Request("mailto:a@b.test", id="3")):
        row = admitted(int(request.id, 16), request)

        assert keys_by(fingerprint)(row) == key_of(request, fingerprint)[:SHORT]


def test_of_the_urls_that_were_met_long_ago_only_the_hosts_are_counted(monkeypatch):
    monkeypatch.setattr("crawler.cluster.fold.RECENT", 2)

    state = fold(ShardState(), [(1, [admitted(n, page(n)) for n in range(5)])], KEY_OF)

    assert [url for url, *_ in state.recent] == ["http://a.test/3", "http://a.test/4"]
    assert state.pages == {"a.test": 3}
