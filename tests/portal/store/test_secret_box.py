import pytest

from crawler.portal.store.secret_box import SecretBox

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_what_is_sealed_opens_with_the_same_key(tmp_path):
    sealed = SecretBox(tmp_path / "key", {}).seal("s3same", "project shop")

    assert b"s3same" not in sealed
    assert SecretBox(tmp_path / "key", {}).open(sealed, "project shop") == "s3same"
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0


def test_it_opens_for_its_own_place_only(tmp_path):
    box = SecretBox(tmp_path / "key", {})
    sealed = box.seal("s3same", "project shop")

    with pytest.raises(ValueError, match="another key"):
        box.open(sealed, "project other")
    with pytest.raises(ValueError, match="another key"):
        SecretBox(tmp_path / "other", {}).open(sealed, "project shop")


def test_the_key_may_be_in_the_environment(tmp_path):
    box = SecretBox(tmp_path / "key", {"CRAWLER_PORTAL_KEY": KEY})

    assert box.open(box.seal("x", "y"), "y") == "x"
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize("key", ["", "short", "é", KEY[:-4]])
def test_a_weak_key_is_refused(tmp_path, key):
    with pytest.raises(ValueError, match="32 random bytes"):
        SecretBox(tmp_path / "key", {"CRAWLER_PORTAL_KEY": key})
