from crawler.portal.store.grants import NOTHING_HIDDEN, Grants
from crawler.portal.store.projects import Project, Projects
from crawler.portal.store.runs import Runs
from crawler.portal.store.secret_box import SecretBox
from crawler.portal.store.tasks import Task, Tasks
from crawler.portal.store.users import User


def user(name, role):
    return User(1, name, role)


def test_a_project_with_grants_is_hidden_from_all_but_those_and_admins(database, tmp_path):
    projects = Projects(database, SecretBox(tmp_path / "key"))
    for name, grants in (("open", ()), ("shop", ("anna",))):
        projects.add(Project(0, name, "", "", "", "", grants), "", now=1, who="root")
    grants = Grants(database)

    assert grants.hidden(user("bob", "operator")) == {2, "shop"}
    for other in (user("anna", "viewer"), user("root", "admin")):
        assert grants.hidden(other) == NOTHING_HIDDEN


def test_a_page_of_tasks_or_runs_leaves_out_those_of_hidden_projects(database):
    tasks, runs = Tasks(database), Runs(database)
    for source in ("", "shop@latest", "shop-2@1.0"):
        task = Task(f"of-{source.partition('@')[0]}", source, urls=("http://a.test/",))
        number = tasks.save(task, now=1, who="anna")
        runs.ask(tasks.find(number), now=1, who="anna")
    hidden = frozenset({7, "shop"})

    assert [task.name for task in tasks.page("", "", 2, hidden)] == ["of-", "of-shop-2"]
    assert [run.project for run in runs.page(0, 2, hidden=hidden)] == ["shop-2", ""]
    assert runs.page(0, 2, task=2, hidden=hidden) == []
