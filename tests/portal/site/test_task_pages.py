import pytest

from crawler.portal.store.tasks import Task, Tasks

FORM = {
    "name": "quotes",
    "spider": "shop/prices.py:Prices",
    "arguments": "tag=a=b\n\nlang = de",
    "settings": "delay=0.5",
    "output": "items.csv",
    "gates": "failed>1%\nitems<5",
    "cron": "30 2 * * 1-5",
    "zone": "Europe/Berlin",
    "overlap": "queue",
    "misfire": "skip",
    "note": "every morning",
    "enabled": "yes",
}


@pytest.fixture
def spider(portal):
    (portal.spiders / "shop").mkdir()
    (portal.spiders / "shop/prices.py").write_text("class Prices(Spider): ...")


def test_what_the_form_says_is_saved(portal, operator, spider):
    assert operator.post("/tasks/new", FORM).headers["Location"] == "/tasks/1/"

    [task] = Tasks(portal._database).all()
    assert task.arguments == {"tag": "a=b", "lang": "de"}
    assert task.settings == {"delay": "0.5"}
    assert task.gates == ("failed>1%", "items<5")
    assert (task.cron, task.zone, task.overlap, task.misfire) == (
        "30 2 * * 1-5",
        "Europe/Berlin",
        "queue",
        "skip",
    )
    page = operator.ask("/tasks/1/").text
    assert page.count("<li><time") == 5
    assert 'value="30 2 * * 1-5"' in operator.ask("/tasks/1/edit").text


def test_a_task_can_be_switched_off(portal, operator, spider):
    operator.post("/tasks/new", FORM)

    off = {name: value for name, value in FORM.items() if name != "enabled"}
    assert operator.post("/tasks/1/edit", off).status == 303

    assert not Tasks(portal._database).find(1).enabled
    assert "The timetable is off" in operator.ask("/tasks/1/").text


WRONG = [
    ("spider", "../evil.py:Evil", "there is no such spider"),
    ("spider", "other.py:Other", "there is no such spider"),
    ("arguments", "no equals sign", "NAME=VALUE"),
    ("arguments", "no equals sign", ">no equals sign</textarea>"),
    ("cron", "often", "five fields"),
    ("zone", "Mars/Olympus", "not a time zone"),
]


def test_what_is_wrong_is_shown_beside_its_field(portal, operator, spider):
    for field, value, words in WRONG:
        answer = operator.post("/tasks/new", FORM | {field: value})
        assert answer.status == 200, value
        assert words in answer.text
        assert f'id="{field}-problem"' in answer.text

    assert Tasks(portal._database).all() == []


def test_the_next_times_can_be_seen_before_saving(portal, operator, spider):
    answer = operator.post("/tasks/new", FORM | {"show": "yes"})

    assert answer.text.count("<li><time") == 5
    assert Tasks(portal._database).all() == []


def test_an_empty_portal_says_what_to_do_next(operator, viewer):
    assert "Make the first one" in operator.ask("/").text
    assert "Make the first one" not in viewer.ask("/").text


def test_many_tasks_come_in_pages_and_are_found_by_name(portal, viewer):
    for number in range(51):
        task = Task(f"t{number:02}", urls=("http://127.0.0.1:9/",))
        Tasks(portal._database).save(task, now=0, who="x")

    first = viewer.ask("/").text
    assert "t49" in first
    assert "t50" not in first
    more = first.partition('<a href="/?')[2].partition('"')[0].replace("&amp;", "&")
    assert "t50" in viewer.ask(f"/?{more}").text
    assert viewer.ask("/?name=50").text.count('<a href="/tasks/5') == 1
    assert "No task has this name" in viewer.ask("/?name=%3Cb%3E").text
