"""A checkpoint is the state that it was made of."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.cluster.checkpoint import pieces, state_of
from crawler.cluster.fold import ShardState, admitted, fold, robots_row

from .test_fold import KEY_OF, batches_of, histories, page


@given(histories(), st.integers(0, 5))
def test_a_journal_can_be_cut_at_any_batch(rows, first):
    batches = batches_of(rows, [1, 2, 3, 1])
    checkpoint = [*pieces(fold(ShardState(), batches[:first], KEY_OF))]

    assert fold(state_of(checkpoint), batches[first:], KEY_OF) == fold(
        ShardState(), batches, KEY_OF
    )


def test_a_large_state_has_many_pieces_none_of_which_is_large():
    rows = [admitted(number, page(number)) for number in range(20_000)]
    rows += [["h", f"{n}.test", 0, 5.0, "delay"] for n in range(3000)]
    rows += [robots_row("http://a.test", 5.0, b"User-agent: *")]
    state = fold(ShardState(), [(1, rows)], KEY_OF)
    state.pages["b.test"] = 7

    found = [*pieces(state)]

    assert len(found) > 10
    assert max(map(len, found)) <= 600_000
    assert sum(map(len, found)) < 60 * 20_000
    assert state_of(found) == state
