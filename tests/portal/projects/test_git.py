import pytest

from crawler.portal.projects.git import Git, GitError, Login, wrong_url

from .conftest import SPIDER
from .git_servers import HttpsGit, SshGit, free_port, sshd


@pytest.fixture
def git(repository, tmp_path):
    return Git(repository.url, Login(), [f"file://{tmp_path}/git/"])


def test_tags_lead_to_commits_whether_annotated_or_not(repository, git):
    first = repository.tag("plain", {"a.py": "1"})
    second = repository.tag("annotated", {"a.py": "2"}, "-a", "-m", "words")

    assert git.tags() == {"plain": first, "annotated": second}


def test_the_files_of_a_tag_are_fetched(repository, git, tmp_path):
    commit = repository.tag("one", {"a/b.py": SPIDER})
    (tmp_path / "out").mkdir()

    git.fetch("one", commit, tmp_path / "out")

    assert (tmp_path / "out/a/b.py").read_text() == SPIDER
    assert not (tmp_path / "out/.git").exists()


def test_a_tag_that_has_moved_is_not_fetched(repository, git, tmp_path):
    commit = repository.tag("one", {"a.py": "1"})
    repository.tag("one", {"a.py": "2"}, "-f")
    (tmp_path / "out").mkdir()

    with pytest.raises(GitError, match="moved"):
        git.fetch("one", commit, tmp_path / "out")

    assert list((tmp_path / "out").iterdir()) == []


def test_links_out_of_the_files_are_refused(repository, git, tmp_path):
    (repository.work / "passwords").symlink_to("/etc/passwd")
    commit = repository.tag("one", {"a.py": "1"})
    (tmp_path / "out").mkdir()

    with pytest.raises(GitError, match="refused"):
        git.fetch("one", commit, tmp_path / "out")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "http://example.org/x.git",
        "ext::sh -c id",
        "--upload-pack=id",
        "-oProxyCommand=id",
        "https://user:secret@example.org/x.git",
        "https://exa mple.org/x",
        "https://%65xample.org/x",
        "https://éxample.org/x",
        "https://[example.org/x",
        "https://example.org:x/x",
        "https://example.org\\@127.0.0.1/x",
        "git@-oProxyCommand=id:x",
        "",
        "../shop",
    ],
)
def test_other_addresses_are_refused(url):
    assert wrong_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/shop.git",
        "https://example.org:8443/a/shop.git",
        "https://[2606:4700::1111]/shop.git",
        "git@example.org:shop.git",
        "ssh://git@example.org:2222/shop.git",
    ],
)
def test_https_and_ssh_are_allowed(url):
    assert wrong_url(url) == ""


def test_a_prefix_allows_other_addresses():
    assert wrong_url("file:///srv/git/shop.git", ["file:///srv/git/"]) == ""
    assert wrong_url("file:///srv/other", ["file:///srv/git/"])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"])
def test_addresses_of_private_networks_are_refused(host):
    with pytest.raises(GitError, match="private network"):
        Git(f"https://{host}/shop.git", Login()).tags()


@pytest.mark.parametrize("url", ["git@127.0.0.1:shop.git", "ssh://git@10.0.0.1:2222/shop.git"])
def test_ssh_connects_to_no_private_network_either(url):
    with pytest.raises(GitError, match="private network"):
        Git(url, Login()).tags()


@pytest.mark.parametrize("url", ["https://192.0.9%2e1/x", "https://192.0.9.１/x", "https://[x/x"])
def test_a_host_that_git_reads_in_another_way_than_the_check_is_refused(url):
    with pytest.raises(GitError, match="an https URL"):
        Git(url, Login()).tags()


@pytest.mark.parametrize("url", ["https://192.0.9.1/x", "git@192.0.9.1:x"])
def test_git_connects_only_to_the_address_that_was_checked(url, tmp_path):
    """A name may lead to another address when it is looked up again."""
    with Git(url, Login())._environment(tmp_path) as (environment, options):
        assert "http.curloptResolve=192.0.9.1:" in " ".join(options)
        assert "HostName=192.0.9.1" in environment["GIT_SSH_COMMAND"]
        assert "HostKeyAlias=192.0.9.1" in environment["GIT_SSH_COMMAND"]


def test_a_repository_that_is_not_allowed_is_not_read(repository):
    with pytest.raises(GitError):
        Git(repository.url, Login()).tags()


def test_secrets_are_not_in_the_words_of_git(tmp_path):
    prefix = f"file://{tmp_path}/"
    git = Git(f"{prefix}s3same", Login("password", "anna", "s3same"), [prefix])

    with pytest.raises(GitError) as raised:
        git.tags()

    assert "s3same" not in str(raised.value)


def test_an_ssh_key_is_in_a_file_of_its_own(tmp_path):
    git = Git("git@example.org:x", Login("key", "", "THE KEY", "example.org ssh-ed25519 AAAA\n"))

    words = git._ssh(tmp_path, tmp_path / "known_hosts", None)

    assert "StrictHostKeyChecking=yes" in words
    assert (tmp_path / "key").read_text() == "THE KEY\n"
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0
    assert "THE KEY" not in words


def test_a_password_signs_in_at_a_real_https_server(repository, tmp_path, monkeypatch):
    commit = repository.tag("one", {"a.py": SPIDER})
    server = HttpsGit(tmp_path / "git", "anna", "a p@ss:word'$x")
    server.authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    (tmp_path / "out").mkdir()
    with server.running() as root:
        url, right = f"{root}shop.git", Login("password", "anna", "a p@ss:word'$x")
        with pytest.raises(GitError, match="certificate"):
            Git(url, right, [root]).tags()
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "authority.pem"))
        assert Git(url, right, [root]).tags() == {"one": commit}
        Git(url, right, [root]).fetch("one", commit, tmp_path / "out")
        for wrong in (Login("password", "anna", "s3same"), Login()):
            with pytest.raises(GitError, match=r"Authentication failed|could not read") as raised:
                Git(url, wrong, [root]).tags()
            assert "s3same" not in str(raised.value)

    assert (tmp_path / "out/a.py").read_text() == SPIDER
    assert server.refused >= 2


@pytest.mark.long
@pytest.mark.skipif(sshd() is None, reason="sshd is not installed: apt-get install openssh-server")
def test_a_key_signs_in_at_a_real_ssh_server_whose_own_key_is_pinned(repository, tmp_path):
    commit = repository.tag("one", {"a.py": SPIDER})
    (tmp_path / "ssh").mkdir()
    (tmp_path / "out").mkdir()
    server, port = SshGit(tmp_path / "ssh"), free_port()
    key = (tmp_path / "ssh/key").read_text()
    with server.running(port) as root:
        url = f"{root}{repository.bare}"
        assert wrong_url(url) == ""
        first = Git(url, Login("key", "", key), [root])
        assert first.tags() == {"one": commit}
        first.fetch("one", commit, tmp_path / "out")
        pinned = first.known_hosts
        server.make_key("other")
        other = Login("key", "", (tmp_path / "ssh/other").read_text())
        with pytest.raises(GitError, match="Permission denied"):
            Git(url, other, [root]).tags()
    assert (tmp_path / "out/a.py").read_text() == SPIDER
    assert f"[127.0.0.1]:{port} ssh-ed25519 " in pinned

    server.make_key("host")  # another machine answers now
    with server.running(port), pytest.raises(GitError, match="Host key verification failed"):
        Git(url, Login("key", "", key, pinned), [root]).tags()
