from dataclasses import replace

import pytest

from crawler.portal.store.tasks import Task, Tasks

GOOD = Task("quotes", urls=("https://example.org/",), cron="30 2 * * 1-5", zone="Europe/Berlin")


def test_a_good_task_has_no_problems():
    assert GOOD.problems() == {}
    assert Task("a", spider="shop/prices.py:Prices", settings={"delay": "0.5"}).problems() == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Quotes"),
        ("name", "../x"),
        ("spider", "--help"),
        ("spider", "/etc/x.py:A"),
        ("urls", ("javascript:alert(1)",)),
        ("urls", ()),
        ("arguments", {"--x": "1"}),
        ("arguments", {"pipelines": "os:system"}),
        ("settings", {"pipelines": "os:system"}),
        ("settings", {"PIPELINES": "os:system"}),
        ("settings", {"no_such_setting": "1"}),
        ("settings", {"delay": "soon"}),
        ("output", "../items.jsonl"),
        ("output", "-"),
        ("output", "items.exe"),
        ("gates", ("rm -rf",)),
        ("cron", "* * * *"),
        ("cron", "61 * * * *"),
        ("cron", "0 0 31 2 *"),
        ("zone", "../../etc/passwd"),
        ("overlap", "maybe"),
        ("misfire", "always"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(field, value):
    assert set(replace(GOOD, **{field: value}).problems()) == {field}


def test_a_task_is_kept_and_changed(database):
    tasks = Tasks(database)
    number = tasks.save(GOOD, now=1, who="anna")

    assert tasks.find(number) == replace(GOOD, id=number)
    tasks.save(replace(GOOD, id=number, cron="", enabled=False), now=2, who="anna")

    [task] = tasks.all()
    assert (task.cron, task.enabled) == ("", False)


def test_names_are_unique(database):
    tasks = Tasks(database)
    tasks.save(GOOD, now=1, who="anna")

    with pytest.raises(ValueError, match="already"):
        tasks.save(GOOD, now=1, who="anna")


def test_tasks_come_in_pages_by_name(database):
    tasks = Tasks(database)
    for name in ("c-shop", "a-shop", "b-news"):
        tasks.save(replace(GOOD, name=name), now=1, who="anna")

    assert [task.name for task in tasks.page("", "", 2)] == ["a-shop", "b-news"]
    assert [task.name for task in tasks.page("", "b-news", 2)] == ["c-shop"]
    assert [task.name for task in tasks.page("shop", "", 2)] == ["a-shop", "c-shop"]
    assert tasks.page("%", "", 2) == []


def test_the_agents_that_a_task_wants_are_kept(database):
    tasks = Tasks(database)
    number = tasks.save(replace(GOOD, agents=3), now=1, who="anna")
    tasks.save(replace(tasks.find(number), note="changed"), now=2, who="anna")

    assert tasks.find(number).agents == 3
