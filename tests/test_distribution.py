import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from crawler import _distribution
from crawler._distribution import NAME, install_command

ROOT = Path(__file__).parent.parent


def test_the_name_is_that_of_the_project_and_its_own_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["name"] == NAME == "gevent-crawler"
    assert project["scripts"] == {"crawler": "crawler.__main__:main"}
    own = [one for extra in project["optional-dependencies"].values() for one in extra]
    assert not [one for one in own if one.startswith("crawler")], "somebody else's package"


def test_in_a_checkout_an_extra_is_installed_into_it():
    assert install_command("parquet") == f"pip install -e '{ROOT}[parquet]'"


def test_elsewhere_it_is_installed_by_name(tmp_path):
    (tmp_path / "crawler").mkdir()
    (tmp_path / "crawler" / "__init__.py").touch()
    shutil.copy(_distribution.__file__, tmp_path / "crawler")
    code = "from crawler._distribution import install_command; print(install_command('parquet'))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )

    assert done.stdout == "pip install 'gevent-crawler[parquet]'\n", done.stderr


def test_no_hint_names_the_package_of_somebody_else():
    files = [*(ROOT / "crawler").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]

    found = [path for path in files if "install crawler" in path.read_text().replace("'", "")]

    assert found == []
