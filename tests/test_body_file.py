import errno
import gzip
import hashlib
import os
import resource
import stat
from pathlib import Path

import gevent
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler import FetchError, Request, Response
from crawler import body_file as module
from crawler.body_file import BodyFile, is_saved, saved

CONTENT = b"all of it " * 100_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
MOST = 10_000_000


@pytest.fixture(params=["without a name", "hidden"])
def draft(request, monkeypatch):
    """Let files that are not whole have no name, or where the system cannot do that, a hidden one."""
    if request.param == "hidden":
        monkeypatch.delattr(os, "O_TMPFILE")


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


def written(target, *pieces, max_size=MOST):
    file = BodyFile(str(target), max_size)
    for piece in pieces:
        file.write(piece)
    return file


@pytest.mark.usefixtures("draft")
def test_a_file_gets_its_name_when_it_is_whole(tmp_path):
    target = tmp_path / "new" / "file.bin"
    file = written(target, CONTENT[:7], CONTENT[7:])
    assert not target.exists()

    body = file.save("", "image/png")

    assert (body.path, body.size, body.sha256) == (str(target), len(CONTENT), DIGEST)
    assert target.read_bytes() == CONTENT
    assert names_in(target.parent) == ["file.bin"]
    assert not target.stat().st_mode & stat.S_IXUSR


@pytest.mark.usefixtures("draft")
def test_a_file_takes_the_place_of_an_older_one(tmp_path):
    target = tmp_path / "file"
    target.write_bytes(b"old")

    written(target, CONTENT).save("", "")

    assert target.read_bytes() == CONTENT
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("target", ["pictures/", "pictures"])
def test_in_a_directory_a_file_is_named_by_its_content(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()

    names = {written(target, CONTENT).save("", "image/png").path for _ in range(2)}

    assert names == {f"pictures/{DIGEST}.png"}
    assert names_in(tmp_path / "pictures") == [f"{DIGEST}.png"]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(content_type=st.text() | st.sampled_from(["a/../b", "image/png/../..", "\0", "image/\n"]))
def test_no_content_type_becomes_a_name(tmp_path, content_type):
    body = written(f"{tmp_path}/", b"x").save("", content_type)

    assert Path(body.path).parent == tmp_path
    assert Path(body.path).name.startswith(hashlib.sha256(b"x").hexdigest())


@pytest.mark.usefixtures("draft")
def test_a_coded_body_is_decoded(tmp_path):
    body = written(tmp_path / "file", gzip.compress(CONTENT)).save("gzip", "")

    assert (body.size, body.sha256) == (len(CONTENT), DIGEST)
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.usefixtures("draft")
@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (gzip.compress(CONTENT)[:-9], "truncated"),
        (b"not gzip", "bad_encoding"),
        (gzip.compress(bytes(MOST + 1)), "too_large"),
    ],
)
def test_a_body_that_cannot_be_decoded_leaves_nothing(tmp_path, sent, kind):
    with pytest.raises(FetchError) as caught:
        written(tmp_path / "file", sent).save("gzip", "")

    assert caught.value.kind == kind
    assert names_in(tmp_path) == []


@pytest.mark.usefixtures("draft")
def test_a_body_that_is_too_large_leaves_nothing(tmp_path):
    file = written(tmp_path / "file", b"x" * 10, max_size=10)
    with pytest.raises(FetchError, match="too_large: the body is larger than 10 bytes"):
        file.write(b"x")

    file.discard()

    assert names_in(tmp_path) == []


def test_nothing_is_left_of_a_file_without_a_name(tmp_path):
    """As if the process had been killed, which removes nothing."""
    file = written(tmp_path / "file", CONTENT)

    assert names_in(tmp_path) == []
    file.discard()


@pytest.mark.usefixtures("draft")
def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    file = BodyFile(str(tmp_path / "file"), MOST)
    try:
        with pytest.raises(FetchError) as caught:
            file.write(CONTENT)
        file.discard()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert caught.value.kind == "disk"
    assert f"cannot save to {tmp_path}/file: File too large" in str(caught.value)
    assert names_in(tmp_path) == []


def test_a_directory_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(FetchError, match=r"disk: cannot save to .*/file/deeper: "):
        BodyFile(str(tmp_path / "file" / "deeper"), MOST)


@pytest.mark.parametrize(("number", "kind"), [(errno.EMFILE, "descriptors"), (errno.EIO, "disk")])
def test_a_process_without_descriptors_can_try_again(tmp_path, monkeypatch, number, kind):
    def fail(_directory):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "_Draft", fail)

    with pytest.raises(FetchError) as caught:
        BodyFile(str(tmp_path / "file"), MOST)

    assert caught.value.kind == kind


def test_others_run_while_a_file_is_written_to_the_disk(tmp_path):
    ran = []
    gevent.spawn(ran.append, "other")

    written(tmp_path / "file", CONTENT).save("", "")

    assert ran == ["other"]


def test_two_bodies_for_one_name_are_not_mixed(tmp_path):
    first, second = (BodyFile(str(tmp_path / "file"), MOST) for _ in range(2))
    for _ in range(100):
        first.write(b"a" * 100)
        second.write(b"b" * 100)

    first.save("", "")
    assert (tmp_path / "file").read_bytes() == b"a" * 10_000
    second.save("", "")
    assert (tmp_path / "file").read_bytes() == b"b" * 10_000


@pytest.mark.parametrize(
    ("method", "status", "expected"),
    [
        ("GET", 200, True),
        ("POST", 201, True),
        ("HEAD", 200, False),
        ("GET", 301, False),
        ("GET", 304, False),
        ("GET", 404, False),
    ],
)
def test_only_a_successful_body_is_saved(method, status, expected):
    request = Request("http://a.test/", method, save_to="x")

    assert is_saved(request, status) is expected
    assert not is_saved(request.replace(save_to=None), status)


def test_a_response_from_elsewhere_is_saved_too(tmp_path):
    request = Request("http://a.test/", save_to=tmp_path / "file")
    response = Response(request.url, 200, {"content-encoding": "gzip"}, CONTENT, request)

    kept = saved(response)

    assert kept.body == b""
    with kept.reader() as reader:
        assert reader.read() == CONTENT
    assert saved(kept) is kept
    assert kept.size == len(CONTENT) == response.size


@pytest.mark.parametrize("status", [404, 302])
def test_another_response_stays_as_it_is(tmp_path, status):
    request = Request("http://a.test/", save_to=tmp_path / "file")
    response = Response(request.url, status, body=b"sorry", request=request)

    assert saved(response) is response
    assert names_in(tmp_path) == []


def test_a_part_is_saved_only_if_it_was_asked_for():
    request = Request("http://a.test/", save_to="x")

    assert not is_saved(request, 206)
    assert is_saved(request.replace(headers={"Range": "bytes=0-99"}), 206)
