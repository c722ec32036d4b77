"""Git: the tags of a repository, and the files of one of them."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import tarfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ...credentials import hide_passwords
from ...data import Request
from ...fetch import AddressGuard

#: The variable with a file of the certificates that git trusts, for servers of one's own.
AUTHORITIES = "GIT_SSL_CAINFO"
#: Seconds that git may take, and bytes that the files of a tag may have.
_SECONDS, _MOST = 60, 500 << 20
_TAG = re.compile(r"([0-9a-f]{40,64})\trefs/tags/(\S+?)(\^\{\})?")
#: With a host in its plain spelling: of any other, git would look up an address that was not checked.
_HTTPS = re.compile(
    r"https://(?:([A-Za-z0-9][A-Za-z0-9._-]*)|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?(?:[/?#]\S*)?"
)
_HAS_LOGIN = re.compile(r"https://[^/?#\s]*@\S*")
_SSH = re.compile(r"(?:ssh://(?:\w[\w.-]*@)?|\w[\w.-]*@)([A-Za-z0-9][\w.-]*)(?::\d+)?[:/][\w./~-]+")
#: Answers git's questions about user and password; both are in the environment of git alone.
_ASKPASS = """#!/bin/sh
case "$1" in Username*) printf %s "$CRAWLER_GIT_USER";; *) printf %s "$CRAWLER_GIT_SECRET";; esac
"""


class GitError(Exception):
    """Git has failed; the message has its own words."""


def wrong_url(url: str, allowed: Collection[str] = ()) -> str:
    """Return why *url* cannot be the address of a repository; "" if it can."""
    if any(url.startswith(prefix) for prefix in allowed) and not url.startswith("-"):
        return ""
    if _HTTPS.fullmatch(url) or _SSH.fullmatch(url):
        return ""
    if _HAS_LOGIN.fullmatch(url):
        return "put user and password into their fields"
    return "an https URL, ssh://git@host/path or git@host:path is needed"


@dataclass(frozen=True)
class Login:
    """How git signs in: *kind* is "", "password" or "key"; *known_hosts* are pinned host keys."""

    kind: str = ""
    user: str = ""
    secret: str = ""
    known_hosts: str = ""


class _Checked(NamedTuple):
    """A host, and the address of it that was checked: a second look-up might find another one."""

    host: str
    port: int
    address: str


class Git:
    """The repository at *url*; *allowed* are beginnings of URLs that are not checked further."""

    def __init__(self, url: str, login: Login, allowed: Collection[str] = ()) -> None:
        self._url, self._login = url, login
        self._is_allowed = any(url.startswith(prefix) for prefix in allowed)
        #: The host keys that ssh has accepted.
        self.known_hosts = login.known_hosts

    def tags(self) -> dict[str, str]:
        """Return the commit of each tag."""
        with TemporaryDirectory() as home:
            out = self._git(Path(home), "ls-remote", "--tags", "--", self._url)
        found: dict[str, str] = {}
        for line in out.decode(errors="replace").splitlines():
            if tag := _TAG.fullmatch(line):
                # An annotated tag has a second line, with the commit that it is about.
                found[tag[2]] = tag[1] if tag[3] else found.get(tag[2], tag[1])
        return found

    def titles(self) -> dict[str, str]:
        """Return the first line of the message of each annotated tag."""
        every = "refs/tags/*:refs/tags/*"
        wanted = "--format=%(objecttype) %(refname:strip=2)%09%(contents:subject)"
        with TemporaryDirectory() as place:
            home, inside = Path(place), ("-C", place)
            self._git(home, *inside, "init", "-q", "--bare", "tags")
            inside = ("-C", f"{place}/tags")
            fetch = ("fetch", "-q", "--depth=1", "--filter=tree:0", "--no-recurse-submodules")
            self._git(home, *inside, *fetch, "--", self._url, every)
            out = self._git(home, *inside, "for-each-ref", wanted, "refs/tags")
        found: dict[str, str] = {}
        for line in out.decode(errors="replace").splitlines():
            name, _, title = line.partition("\t")
            if name.startswith("tag "):
                found[name.removeprefix("tag ")] = title
        return found

    def fetch(self, tag: str, commit: str, target: Path) -> None:
        """Write the files of *tag* into the empty directory *target*, if it still has *commit*."""
        with TemporaryDirectory() as place:
            home, repository = Path(place), Path(place) / "repository"
            repository.mkdir()
            inside = ("-C", str(repository))
            self._git(home, *inside, "init", "-q", "--bare")
            fetch = ("fetch", "-q", "--depth=1", "--no-tags", "--no-recurse-submodules")
            self._git(home, *inside, *fetch, "--", self._url, f"refs/tags/{tag}")
            found = self._git(home, *inside, "rev-parse", "FETCH_HEAD^{commit}").decode().strip()
            if found != commit:
                raise GitError(f"the tag has moved from {commit[:12]} to {found[:12]}")
            archive = home / "files.tar"
            output = f"--output={archive}"
            self._git(home, *inside, "archive", "--format=tar", output, "FETCH_HEAD")
            _unpack(archive, target)

    def _git(self, home: Path, *arguments: str) -> bytes:
        with self._environment(home) as (environment, options):
            try:
                done = subprocess.run(  # noqa: S603 - a list, no shell
                    ["git", *options, *arguments],  # noqa: S607 - the one in PATH
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise GitError(f"git took longer than {_SECONDS} s") from None
            except OSError as error:
                raise GitError(f"git cannot be run: {error.strerror}") from None
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip()[-500:] or "git failed"
            raise GitError(self._without_secret(hide_passwords(words)))
        return done.stdout

    @contextmanager
    def _environment(self, home: Path) -> Iterator[tuple[dict[str, str], list[str]]]:
        """Yield the environment of git, which has no configuration but ours, and its options."""
        askpass, known = home / "askpass", home / "known_hosts"
        checked = None if self._is_allowed else self._checked()
        askpass.write_text(_ASKPASS)
        askpass.chmod(0o700)
        known.write_text(self.known_hosts)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "LANG": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "https:ssh:http:file" if self._is_allowed else "https:ssh",
            "GIT_ASKPASS": str(askpass),
            "GIT_SSH_COMMAND": self._ssh(home, known, checked),
        }
        if authorities := os.environ.get(AUTHORITIES):
            environment[AUTHORITIES] = authorities
        if self._login.kind == "password":
            environment["CRAWLER_GIT_USER"] = self._login.user
            environment["CRAWLER_GIT_SECRET"] = self._login.secret
        options = ["-c", "http.followRedirects=false", "-c", "core.hooksPath=/dev/null"]
        if checked:
            options += [
                "-c",
                f"http.curloptResolve={checked.host}:{checked.port}:{checked.address}",
            ]
        yield environment, options
        self.known_hosts = self.known_hosts or known.read_text()

    def _ssh(self, home: Path, known: Path, checked: _Checked | None) -> str:
        words = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={known}"]
        words += ["-o", "StrictHostKeyChecking=" + ("yes" if self.known_hosts else "accept-new")]
        if checked:
            words += ["-o", f"HostName={checked.address}", "-o", f"HostKeyAlias={checked.host}"]
        if self._login.kind == "key":
            key = home / "key"
            if not key.exists():
                key.touch(0o600)
                key.write_text(self._login.secret.strip() + "\n")
            words += ["-o", "IdentitiesOnly=yes", "-i", str(key)]
        return shlex.join(words)

    def _checked(self) -> _Checked:
        """Return the only address that git may connect to; raise GitError if it is private."""
        if found := _HTTPS.fullmatch(self._url):
            host, port = (found[1] or found[2]).lower(), int(found[3] or 443)
        elif found := _SSH.fullmatch(self._url):
            host, port = found[1], 22
        else:
            raise GitError(wrong_url(self._url))
        return _Checked(host, port, _public_address(host, port))

    def _without_secret(self, text: str) -> str:
        secret = self._login.secret
        return text.replace(secret, "…") if secret else text


def _public_address(host: str, port: int) -> str:
    """Return an address of *host*; raise GitError if one of them is of this machine or network."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise GitError(f"the host {host!r} has no address: {error}") from None
    guard, request = AddressGuard(), Request(f"https://{host}/")
    for *_, (ip, *_rest) in found:
        if guard.refusal(str(ip), port, request):
            raise GitError(f"{host} is an address of a private network: start with --allow-git")
    return str(found[0][4][0])


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as files:
        if sum(member.size for member in files) > _MOST:
            raise GitError(f"the files have more than {_MOST >> 20} MB")
        try:
            files.extractall(target, filter="data")
        except tarfile.TarError as error:
            raise GitError(f"its files are refused: {error}") from None
