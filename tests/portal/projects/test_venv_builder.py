import pytest

from crawler.portal.projects.limited_process import Failed
from crawler.portal.projects.venv_builder import _wanted, build, check, digest_of, python_of

from .conftest import SPIDER


@pytest.fixture
def version(tmp_path):
    (tmp_path / "v/source").mkdir(parents=True)
    return tmp_path / "v"


def test_the_environment_has_the_crawler_and_its_own_packages_first(version, tmp_path):
    (version / "source/shop.py").write_text(SPIDER)
    build(version, tmp_path / "log")
    [packages] = (version / "env").glob("lib/python*/site-packages")
    (packages / "click.py").write_text("raise RuntimeError('its own click')")

    assert python_of(version).exists()
    with pytest.raises(Failed):
        check(version, tmp_path / "log")
    assert "its own click" in (version / "spiders.jsonl").read_text()


def test_pip_installs_what_the_project_asks_for(version):
    source = version / "source"
    assert _wanted(source) == []
    (source / "requirements.txt").touch()
    assert _wanted(source) == ["-r", "requirements.txt"]
    (source / "requirements.lock").touch()
    (source / "pyproject.toml").touch()
    assert _wanted(source) == ["-r", "requirements.lock", "."]


def test_a_digest_changes_with_names_and_bytes(version):
    source, digests = version / "source", set()
    for name, text in (("a", "1"), ("a", "2"), ("b", "2"), ("c/d", "2")):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text)
        digests.add(digest_of(source))

    assert len(digests) == 4
