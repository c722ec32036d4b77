from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.portal.charts import bar, columns, line, top_of

VALUES = st.lists(st.floats(0, 1e12), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("values", "top"), [([], 1), ([0], 1), ([3], 3), ([11, 4], 15), ([0.07], 0.08), ([99], 100)]
)
def test_the_upper_edge_is_a_round_number(values, top):
    assert top_of(values) == pytest.approx(top)


@given(st.lists(st.floats(1e-6, 1e12), min_size=1))
def test_no_value_is_above_the_upper_edge(values):
    assert max(values) <= top_of(values) * (1 + 1e-9) <= 11 * max(values)


@given(VALUES)
def test_a_line_stays_inside_its_drawing(values):
    points = [(float(n), value) for n, value in enumerate(values)]

    drawing = ET.fromstring(line(points, end=len(values), top=top_of(values), label="x"))

    [polyline] = drawing.iter("polyline")
    pairs = [tuple(map(float, pair.split(","))) for pair in polyline.get("points").split()]
    assert len(pairs) == len(values)
    assert all(0 <= x <= 600 and -0.1 <= y <= 120 for x, y in pairs)


@given(VALUES)
def test_there_is_a_column_for_each_value(values):
    drawing = ET.fromstring(columns(values, label="x"))

    heights = [float(one.get("height")) for one in drawing.iter("rect")]
    assert len(heights) == len(values)
    assert max(heights) == (120 if max(values) > 0 else 0)


def test_a_bar_has_its_parts_side_by_side():
    drawing = ET.fromstring(bar([("ok", 0.5), ("bad", 0.25)], label="x"))

    assert [(one.get("x"), one.get("width")) for one in drawing] == [
        ("0.00%", "50.00%"),
        ("50.00%", "25.00%"),
    ]


def test_labels_are_escaped():
    for drawn in (bar([], label='"><b>'), columns([1], label='"><b>')):
        assert ET.fromstring(drawn).get("aria-label") == '"><b>'
