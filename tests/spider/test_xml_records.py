import pytest

from crawler.spider.xml_records import records, root_name, without_dtd


def values(text, *names):
    return [record.values() for record in records(text, names)]


def test_a_record_has_the_texts_of_its_fields():
    text = "<list><x:one><x:a> 1 </x:a><y:a>2</y:a><x:b><i>3</i>4</x:b></x:one></list>"

    assert values(text, "one") == [{"a": "1", "b": "34"}]


def test_a_record_ends_where_the_next_begins_and_where_the_text_ends():
    assert values("<one><a>1</a><one><a>2</a>", "one") == [{"a": "1"}, {"a": "2"}]


def test_a_field_without_an_end_is_left_out():
    assert values("<one><a>1</a><b>2 and mo", "one") == [{"a": "1"}]


@pytest.mark.parametrize("field", ["<b/>", "<b>2</b>"])
def test_a_record_that_never_ends_keeps_its_first_fields(field, monkeypatch):
    monkeypatch.setattr("crawler.spider.xml_records._MOST_FIELDS", 100)

    [record] = records("<one><a>1</a>" + field * 1000, {"one"})

    assert record.values()["a"] == "1"
    assert len(record.fields) == 100


def test_a_text_in_very_many_pieces_keeps_the_first_of_them(monkeypatch):
    monkeypatch.setattr("crawler.spider.xml_records._MOST_PIECES", 100)

    assert values("<one><a>" + "x<i/>" * 1000 + "</a></one>", "one") == [{"a": "x" * 100}]


def test_an_attribute_is_looked_for_in_the_first_64_kilobytes():
    between = "a='b' " * 12_000
    [record] = records(f"<one id='1' {between} last='2'></one>", {"one"})

    assert (record.attribute("id"), record.attribute("last")) == ("1", "")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a&amp;b", "a&b"),
        ("&#38;&#x26;", "&&"),
        ("caf&eacute;", "café"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("&unknown;", "&unknown;"),
        ("<![CDATA[&amp;<b>]]>", "&amp;<b>"),
        ("a<!-- no -->b", "ab"),
    ],
)
def test_entities_are_those_of_html_and_need_their_semicolon(written, text):
    assert values(f"<one><a>{written}</a></one>", "one") == [{"a": text}]


def test_attributes_are_found_whatever_their_case():
    [record] = records("<one><a HREF='x&amp;y' rel=next/></one>", {"one"})
    [field] = record.own("a")

    assert (field.attribute("href"), field.attribute("title")) == ("x&y", "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<?xml version='1.0'?><!-- <no/> --><x:RSS>", "rss"),
        ("<!DOCTYPE a [<!ENTITY b '<c>'>]><feed/>", "feed"),
        ("</end><urlset>", "urlset"),
        ("text", ""),
    ],
)
def test_the_root_is_the_first_element(text, name):
    assert root_name(text) == name


def test_declarations_are_removed():
    assert without_dtd("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>") == " <a>&b;</a>"
