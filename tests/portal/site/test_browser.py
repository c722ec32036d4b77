"""From the first start to a steered run, in a real browser."""

from itertools import count

import gevent
from gevent.event import Event
from playwright.sync_api import expect

from crawler._distribution import __version__
from crawler.portal.store.projects import UNDER_WAY, Project
from crawler.portal.store.runs import STATES, Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.testing import LoopbackSite

from ..conftest import illegible, inaccessible, overhang
from ..projects.conftest import Repository
from ..runs.test_log_index import line
from .conftest import PASSWORD, Client
from .test_project_pages import hook

SPIDER = """
from crawler import Spider

class Titles(Spider):
    name = "titles"
    start_urls = [{url!r}]

    def parse(self, response):
        self.logger.warning("title is <img src=x onerror=alert()> %s", response.title)
        yield {{"title": response.title}}
        yield from response.links()
        if response.url.endswith("/120"):
            raise ValueError("no price")
"""


def site_that_waits():
    """Return a site that answers ten requests, and the others when its event is set."""
    release, asked = Event(), count(1)

    def page(request):
        n = int(request.url.rpartition("/")[2] or 0)
        assert next(asked) <= 10 or release.wait(240)
        links = "".join(f'<a href="/{n * 3 + k}">x</a>' for k in (1, 2, 3)) if n < 40 else ""
        return f"<title>{n}</title>{links}"

    return LoopbackSite({f"/{n}": page for n in range(121)} | {"/": page}), release


def test_from_the_first_start_to_a_steered_run(portal, tab):
    site, release = site_that_waits()
    asked = []
    tab.context.on("request", lambda request: asked.append(request.url))
    with site:
        (portal.spiders / "titles.py").write_text(SPIDER.format(url=site.url()))
        tab.goto(portal.first_url)
        tab.get_by_label("Name").fill("anna")
        tab.get_by_label("Password").fill("a long password")
        tab.get_by_role("button", name="Begin").click()
        tab.get_by_role("link", name="Make the first one").click()

        tab.get_by_label("Name").fill("titles-daily")
        tab.get_by_label("Spider").select_option("titles.py:Titles")
        tab.get_by_label("Settings").fill("delay=0\nrobots=false\ndepth=9\ntimeout=300")
        tab.get_by_label("Cron").fill("30 2 * * *")
        tab.get_by_role("button", name="Show the next times").click()
        expect(tab.locator(".times li")).to_have_count(5)
        tab.get_by_role("button", name="Save").click()

        tab.get_by_role("button", name="Run now").click()
        state = tab.locator("#status .state")
        tab.get_by_role("button", name="Pause").click()
        expect(state).to_have_text("paused")
        tab.set_viewport_size({"width": 360, "height": 800})
        assert overhang(tab) <= 0  # with all of its buttons
        log = tab.context.new_page()
        log.goto(f"{tab.url}log?words=title")
        assert log.locator("#log li").count() <= 10
        tab.get_by_role("button", name="Resume").click()
        expect(state).to_have_text("running")
        release.set()
        expect(state).to_have_text("finished")
        expect(log.locator("#log li")).to_have_count(121)  # without a reload
        expect(log.locator("#connection")).to_contain_text("The run is over")

    expect(tab.locator("#queue dd").nth(1)).to_have_text("121")
    for words in ("Retry failed…", "Start afresh…"):
        tab.get_by_text(words).click()
        assert overhang(tab) <= 0
        tab.get_by_text(words).click()
    assert f"crawler {__version__}" in tab.locator("footer").inner_text()
    log.get_by_label("Words").fill("title 120")
    log.get_by_role("button", name="Search").click()
    expect(log.locator("#log li")).to_have_count(1)
    expect(log.locator("#log .text")).to_contain_text("title is <img src=x onerror=alert()> 120")
    log.locator("#log .at").click()
    expect(log.locator("#log .found .text")).to_contain_text(" 120")
    assert log.locator("#log li").count() > 50
    log.get_by_role("link", name="Lines of request").last.click()
    log.wait_for_url("**/log?request=*")
    assert 1 <= log.locator("#log li").count() <= 4
    log.goto(tab.url)
    log.locator("#errors summary").click()
    expect(log.locator("#errors a.url")).to_have_count(1)
    log.get_by_role("link", name="lines of the log").click()
    expect(log.locator("#log li")).to_have_count(1)
    expect(log.locator("#log .text")).to_contain_text("ValueError: no price")
    tab.get_by_role("link", name="titles-daily").click()
    expect(tab.locator(".cell.finished")).to_have_count(1)
    for width in (360, 1280):
        for page in (tab, log):
            page.set_viewport_size({"width": width, "height": 800})
            over = overhang(page)
            assert over <= 0, (page.url, width)
    # Nothing that a browser asks for leaves this machine.
    assert len(asked) > 20
    assert [url for url in asked if not url.startswith(portal.url)] == []


def sign_in(tab, portal, name="admin"):
    tab.goto(portal.url)
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()


def wait_for_build(portal):
    with gevent.Timeout(240):
        while portal.builds.versions.in_state(*UNDER_WAY):
            gevent.sleep(0.1)


def test_from_a_repository_to_a_run_of_a_version(portal, users, tab, tmp_path):
    repository = Repository(tmp_path)
    with LoopbackSite({"/": "<title>Home</title>"}) as site:
        repository.tag("release/titles/1.0", {"titles.py": SPIDER.format(url=site.url())})
        sign_in(tab, portal)
        tab.get_by_role("link", name="Projects").click()
        tab.get_by_label("Name").fill("titles")
        tab.get_by_label("Git URL").fill(repository.url)
        tab.get_by_role("button", name="Add").click()
        tab.get_by_text("There is no version yet").wait_for()
        project = portal.builds.projects.named("titles")
        assert hook(Client(portal), portal, project).text == "1 new versions\n"
        wait_for_build(portal)
        tab.reload()
        expect(tab.locator("td .state")).to_have_text("ready")

        tab.get_by_role("link", name="Tasks").click()
        tab.get_by_role("link", name="Make the first one").click()
        tab.get_by_label("Name").fill("titles-1")
        tab.get_by_label("Spider").select_option("titles@latest titles.py:Titles")
        tab.get_by_label("Settings").fill("delay=0\nrobots=false")
        tab.get_by_role("button", name="Save").click()
        tab.get_by_role("button", name="Run now").click()
        expect(tab.locator("#status .state")).to_have_text("finished")
        expect(tab.locator(".crumb")).to_contain_text("version titles@1.0")

    repository.tag("release/titles/1.0", {"titles.py": "# moved"}, "-f")
    tab.get_by_role("link", name="Projects").click()
    tab.get_by_role("link", name="titles", exact=True).click()
    tab.get_by_role("button", name="Fetch tags").click()
    expect(tab.locator(".alarm")).to_contain_text("has moved")
    for width in (360, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        assert overhang(tab) <= 0
    tab.get_by_role("button", name="I have seen it").click()
    expect(tab.locator(".alarm")).to_have_count(0)


def reach(tab, name):
    """Press Tab until what is called *name* has the focus."""
    named = "one => (one.labels?.[0] || one).innerText.trim()"
    for _ in range(80):
        tab.keyboard.press("Tab")
        focused = tab.locator(":focus")
        if focused.count() and focused.evaluate(named).startswith(name):
            return
    raise AssertionError(f"no Tab leads to {name}")


def test_a_task_is_run_by_keyboard_and_without_a_script(portal, users, task, browser):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(portal.url)

    for name, text in (("Name", "operator"), ("Password", PASSWORD)):
        reach(tab, name)
        tab.keyboard.type(text)
    for name in ("Sign in", "quotes", "Run now", "Remove from the queue"):
        reach(tab, name)
        with tab.expect_navigation():
            tab.keyboard.press("Enter")

    assert tab.url == f"{portal.url}runs/1/"
    expect(tab.locator("#status .state")).to_have_text("stopped")
    context.close()


def test_the_pages_can_be_used_by_everybody(portal, users, browser):
    portal._visitors.users.add("u" * 64, PASSWORD, "admin")
    task = Task("w" * 64, urls=("http://127.0.0.1:9/",), cron="30 2 * * *")
    number = Tasks(portal._database).save(task, now=0, who="x")
    portal.runner._start_queued = lambda: None
    run = Runs(portal._database).ask(Tasks(portal._database).find(number), now=0, who="x")
    (portal.path / f"runs/{run}").mkdir(parents=True, exist_ok=True)
    (portal.path / f"runs/{run}/log.txt").write_text(
        line("a", 1, "ERROR", trace="b", host="c")
        + line("\u05e9\u05dc\u05d5\u05dd", 2, host="127.0.0.1", request="7")
    )
    context = browser.new_context(color_scheme="dark", bypass_csp=True)
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(portal.url)
    assert inaccessible(tab) == {}
    sign_in(tab, portal, "u" * 64)
    given = Project(0, "shop", "https://example.org/x", "", "", "v{version}")
    projects = portal.builds.projects
    project = projects.find(projects.add(given, "", now=0, who="x"))
    portal.builds.step = lambda: None
    portal.builds.versions.ask(project, "1.0", "v1.0", "c", 1)
    portal.builds.alarms.add("W" * 200, "moved", 1.0)
    [user, *_] = portal._visitors.users.all()
    portal._visitors.tokens.add(user, "n" * 64, "read", days=1, now=1.0)
    tab.set_viewport_size({"width": 360, "height": 800})

    routes = ("", "runs", f"tasks/{number}/", f"runs/{run}/log", "users", "tokens", "projects")
    places = ("", "runs", "users", "tokens", "projects", "tasks/new")
    for route in (*routes, f"projects/{project.id}/", "versions/1/", "tasks/new"):
        tab.goto(portal.url + route)
        assert inaccessible(tab) == {}, route
        assert overhang(tab) <= 0, route
        assert illegible(tab) == [], route
        tab.keyboard.press("Tab")
        expect(tab.locator(".skip")).to_be_focused()
        assert tab.locator("nav [aria-current]").count() == (route in places), route
    tab.goto(f"{portal.url}runs/{run}/log")
    assert text_of_the_page_stands_after_that_of_a_site(tab)
    assert len(set(tab.evaluate(LOOKS, list(STATES)))) == len(STATES)
    context.close()


#: How the cells of a grid look by the state of their run, but for their colours.
LOOKS = """states => states.map((state) => {
  const cell = document.body.appendChild(document.createElement("a"));
  cell.className = `cell ${state}`;
  return getComputedStyle(cell, "::after").content + getComputedStyle(cell).borderStyle;
})"""


def text_of_the_page_stands_after_that_of_a_site(tab):
    """Return whether the host of the last line follows its text, which is written right to left."""
    text, host = tab.locator("#log li").last.locator("bdi, .about a").all()[:2]
    return host.bounding_box()["x"] >= text.bounding_box()["x"] + text.bounding_box()["width"]
