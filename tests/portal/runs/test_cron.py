from datetime import UTC, datetime
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.portal.runs.cron import due_time, next_times
from crawler.portal.store.tasks import Task

from .cron_daemon import CronDaemon, is_there, stored

BERLIN = ZoneInfo("Europe/Berlin")
LINES = ["30 2 * * *", "*/15 * * * *", "0 0 1 * *", "5 4 * * 0", "0 2,3 * * *", "59 23 31 12 *"]


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def task(cron, **options):
    return Task("t", cron=cron, **options)


def fired(one, times):
    """Return the times that fire if the portal looks at each of *times*."""
    checked, found = times[0], []
    for now in times[1:]:
        due = due_time(one, checked, now)
        if due is not None:
            found.append(due)
            checked = due
    return found


def test_the_next_times_are_in_the_zone_of_the_task():
    times = next_times("30 2 * * *", BERLIN, at("2026-11-18T00:00:00"), 2)

    assert [time.isoformat() for time in times] == [
        "2026-11-18T02:30:00+01:00",
        "2026-11-19T02:30:00+01:00",
    ]


@pytest.mark.parametrize(
    ("day", "utc"),
    [("2026-03-29", "01:00"), ("2026-10-25", "00:30"), ("2026-07-01", "00:30")],
    ids=["summer time begins", "summer time ends", "any day"],
)
def test_a_daily_time_fires_once_however_the_clocks_change(day, utc):
    start = at(f"{day}T00:00:00") - 7200
    minutes = [start + 60 * n for n in range(24 * 60)]

    times = fired(task("30 2 * * *", zone="Europe/Berlin"), minutes)

    on_the_day = [datetime.fromtimestamp(time, UTC).strftime("%H:%M") for time in times]
    assert on_the_day == [utc]


@settings(max_examples=40)
@given(
    st.sampled_from(LINES),
    st.lists(st.integers(1, 900), min_size=5, max_size=60),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
)
def test_each_time_fires_at_most_once_and_none_is_left_out(cron, steps, zone):
    now = times = [at("2026-10-24T22:00:00")]
    for step in steps:
        times = [*times, times[-1] + step]
    one = task(cron, zone=zone)

    found = fired(one, times)

    all_times = [
        time.timestamp()
        for time in next_times(cron, one.tzinfo, now[0], 100)
        if time.timestamp() <= times[-1]
    ]
    assert found == sorted(set(found))
    assert set(found) <= set(all_times)
    # Of several times between two looks, only the last one fires.
    assert bool(found) == bool(all_times)
    assert not all_times or found[-1] == all_times[-1]


def test_missed_times_are_made_up_for_once():
    checked = at("2026-11-18T00:00:00")

    assert due_time(task("0 * * * *"), checked, checked + 3 * 3600 + 600) == checked + 3 * 3600
    assert due_time(task("0 * * * *", misfire="skip"), checked, checked + 3 * 3600 + 600) is None
    assert due_time(task("0 * * * *", misfire="skip"), checked, checked + 3600 + 5) is not None


def test_a_time_more_than_an_hour_ago_is_left_out():
    checked = at("2026-11-18T00:00:00")

    assert due_time(task("0 1 * * *"), checked, checked + 3 * 3600) is None


def test_a_year_away_costs_nothing():
    checked = at("2025-11-18T00:00:00")

    assert due_time(task("* * * * *"), checked, at("2026-11-18T00:00:30")) == at(
        "2026-11-18T00:00:00"
    )


def test_a_task_that_is_off_is_never_due():
    checked = at("2026-11-18T00:00:00")

    assert due_time(task("* * * * *", enabled=False), checked, checked + 600) is None
    assert due_time(task(""), checked, checked + 600) is None


# -- the same as Debian's cron daemon ------------------------------------------------------------

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Sydney"]
HOUR = 3600


def changes(zone, years):
    """Return the moments at which the clocks are changed."""
    first, last = (int(at(f"{year}-01-01T00:00:00")) for year in years)
    offsets = [
        (now, datetime.fromtimestamp(now, zone).utcoffset()) for now in range(first, last, HOUR)
    ]
    found = [after[0] for before, after in pairwise(offsets) if before[1] != after[1]]
    assert len(found) == 2 * (years[1] - years[0])
    return found


def windows(zone, years):
    """Return the hours around each change of the clocks."""
    return [(change - 4 * HOUR, change + 6 * HOUR) for change in changes(ZoneInfo(zone), years)]


def times_in(cron, zone, first, last):
    """Return the times of a cron line in a window."""
    times = map(datetime.timestamp, CronSim(cron, datetime.fromtimestamp(first, ZoneInfo(zone))))
    return [int(time) for time in takewhile(lambda time: time < last, times) if time > first]


def looked_at(cron, zone, first, last):
    """Return the times that fire if a portal looks at each minute of a window."""
    return fired(task(cron, zone=zone), [float(now) for now in range(first, last, 60)])


@pytest.mark.parametrize("zone", ZONES)
def test_a_year_of_clock_changes_is_that_of_debians_cron(zone):
    table = {line: found for (place, line), found in stored().items() if place == zone}
    assert len(table) == 40
    for number, (cron, found) in enumerate(table.items()):
        for window, minutes in zip(windows(zone, (2026, 2027)), found, strict=True):
            daemon = [window[0] + 60 * minute for minute in minutes]
            assert times_in(cron, zone, *window) == daemon, cron
            if number % 20 == 0:
                assert looked_at(cron, zone, *window) == daemon, cron


needs_cron = pytest.mark.skipif(not is_there(), reason="Debian's cron or a C compiler is missing")


@needs_cron
def test_the_table_is_that_of_the_daemon(tmp_path):
    daemon, zone, line = CronDaemon(tmp_path), "Europe/Berlin", "30 2 * * *"
    for window, minutes in zip(windows(zone, (2026, 2027)), stored()[zone, line], strict=True):
        expected = [window[0] + 60 * minute for minute in minutes]
        assert daemon.starts(line, zone, [window]) == expected


@pytest.mark.long
@needs_cron
@pytest.mark.parametrize("zone", ZONES)
def test_ten_years_of_forty_lines_are_those_of_debians_cron(zone, tmp_path):
    daemon, around = CronDaemon(tmp_path), windows(zone, (2026, 2036))
    for cron in {line for _, line in stored()}:
        starts = [now for window in around for now in looked_at(cron, zone, *window)]
        beginnings = {first for first, _ in around}
        daemons = [now for now in daemon.starts(cron, zone, around) if now not in beginnings]
        assert starts == daemons, cron


@pytest.mark.long
@needs_cron
def test_forty_lines_in_a_leap_year_are_those_of_debians_cron(tmp_path):
    daemon, zone = CronDaemon(tmp_path), "Europe/Berlin"
    first, last = int(at("2028-01-30T00:00:00")), int(at("2028-04-02T00:00:00"))
    for cron in {line for _, line in stored()}:
        assert times_in(cron, zone, first, last) == [
            now for now in daemon.starts(cron, zone, [(first, last)]) if now > first
        ]
