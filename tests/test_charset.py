import codecs
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from webencodings.labels import LABELS

from crawler.charset import decode, detect

from .cpu_time import costs_at_most, takes_at_most

GREEK = "Ελλάδα"


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_beats_every_label_and_is_not_part_of_the_text(bom, encoding):
    body = bom + f"<meta charset=gbk>{GREEK}".encode(encoding)

    assert detect(body, "text/html; charset=iso-8859-7") == (encoding, "bom")
    assert decode(body, "text/html; charset=iso-8859-7") == f"<meta charset=gbk>{GREEK}"


def test_only_the_first_byte_order_mark_is_taken_away():
    assert decode(codecs.BOM_UTF8 * 2 + b"a") == "\ufeffa"
    assert decode(b"a" + codecs.BOM_UTF8) == "a\ufeff"


def test_the_header_beats_the_document():
    body = b"<meta charset=gbk>" + GREEK.encode("iso-8859-7")

    assert detect(body, "text/html; charset=iso-8859-7") == ("iso8859-7", "header")
    assert decode(body, "text/html; charset=iso-8859-7").endswith(GREEK)


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html;charset=gbk",
        "text/html; charset=GBK",
        'text/html; charset="gbk"',
        "text/html; charset='gbk'",
        "text/html; Charset = gbk ; boundary=x",
        "text/html; charset=gb2312",
        "text/html; charset=gbk, text/html; charset=gbk",
        "text/html; charset=gbk,text/html",
    ],
)
def test_the_header_may_be_written_in_many_ways(content_type):
    assert detect(b"x", content_type) == ("gbk", "header")


@pytest.mark.parametrize(
    "content_type",
    ["", "text/html", "text/html; charset", "text/html; charset=", "text/html; charset=; a=b"],
)
def test_a_header_without_a_label_is_ignored(content_type):
    assert detect(b"x", content_type) == ("utf-8", "default")


@pytest.mark.parametrize(
    ("document", "source"),
    [
        (b"<meta charset=gbk>", "meta"),
        (b'<META CHARSET="GBK" />', "meta"),
        (b"<meta\ncharset = 'gbk'>", "meta"),
        (b"<meta/charset=gbk>", "meta"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=gb2312">', "meta"),
        (b'<html><head><meta name="a"><meta charset="gbk">', "meta"),
        (b'<?xml version="1.0" encoding="gbk"?><rss>', "xml"),
        (b"\n<?xml version='1.0' encoding='GB2312'?>", "xml"),
    ],
)
def test_the_document_may_name_its_own_encoding(document, source):
    assert detect(document + "中".encode("gbk")) == ("gbk", source)
    assert decode(document + "中".encode("gbk")).endswith("中")


@pytest.mark.parametrize(
    "document",
    [
        b"<!-- <meta charset=gbk> -->",
        b"<!-- <meta charset=gbk>",
        b"<metacharset=gbk>",
        b"<p>charset=gbk</p>",
        b"text <?xml version='1.0' encoding='gbk'?>",
    ],
)
def test_text_that_only_looks_like_a_declaration_is_ignored(document):
    assert detect(document) == ("utf-8", "default")


@pytest.mark.parametrize("label", ["klingon", "utf-7", "utf-32", "replacement"])
def test_an_unknown_label_is_passed_over(label):
    body = b"<meta charset=gbk>"

    assert detect(body, f"text/html; charset={label}") == ("gbk", "meta")
    assert detect(f"<meta charset={label}><meta charset=gbk>".encode()) == ("gbk", "meta")
    assert detect(f"<meta charset={label}>".encode()) == ("utf-8", "default")
    xml = f"<?xml version='1.0' encoding='{label}'?><meta charset=gbk>"
    assert detect(xml.encode()) == ("gbk", "meta")


def test_x_user_defined_is_windows_1252_in_a_meta_element():
    assert detect(b"<meta charset=x-user-defined>") == ("cp1252", "meta")


@pytest.mark.parametrize(
    ("document", "label"),
    [
        (b"<meta name=x content='a; charset=gbk'>", None),
        (b"<meta content='a; charset=gbk'>", None),
        (b"<meta content='a; charset=gbk' http-equiv='Content-Type'>", "gbk"),
        (b"<meta http-equiv=content-type content='charset charset = \"gbk\"x'>", "gbk"),
        (b'<meta http-equiv=content-type content="charset=\'gbk">', None),
        (b"<meta http-equiv=content-type content='x charset=gbk;y'>", "gbk"),
        (b"<meta charset=klingon http-equiv=content-type content='charset=gbk'>", None),
        (b"<meta http-equiv=content-type content='charset=gbk' charset=koi8-r>", "koi8-r"),
        (b"<meta charset=gbk charset=koi8-r>", "gbk"),
        (b"<meta title='charset=gbk'>", None),
        (b"<meta charset='gbk", None),
        (b"<meta charset=gbk", None),
        (b"<meta charset=gbk x='y", None),
        (b"<meta charset>", None),
        (b"<meta charset = gbk >", "gbk"),
        (b"<meta/charset=gbk>", "gbk"),
        (b"<meta charset='gbk'x>", "gbk"),
        (b'<div title="<meta charset=gbk>"><meta charset=koi8-r>', "koi8-r"),
        (b'<div title="><meta charset=gbk>"', None),
        (b"<div title='>\"'><meta charset=gbk>", "gbk"),
        (b"</div title='<meta charset=gbk>'><meta charset=koi8-r>", "koi8-r"),
        (b"<div/title='><meta charset=gbk>", "gbk"),
        (b"<!x '><meta charset=gbk>'>", "gbk"),
        (b"<?x <meta charset=gbk>", None),
        (b"</ <meta charset=gbk>", None),
        (b"<!--><meta charset=gbk>", "gbk"),
        (b"<!--->-><meta charset=gbk>", "gbk"),
        (b"<!-- --!><meta charset=gbk> --><meta charset=koi8-r>", "koi8-r"),
        (b"<script>'<meta charset=gbk>'</script>", "gbk"),
        (b"1 < 2 <meta charset=gbk>", "gbk"),
        (b"<?xml encoding='gbk'?><meta charset=koi8-r>", "koi8-r"),
    ],
)
def test_a_meta_element_is_found_where_the_html_standard_finds_it(document, label):
    assert detect(document) == ((label, "meta") if label else ("utf-8", "default"))


def test_in_xml_the_declaration_of_xml_counts_first():
    document = b"<?xml version='1.0' encoding='gbk'?><meta charset=koi8-r />"

    assert detect(document, "text/html") == ("koi8-r", "meta")
    assert detect(document, "application/xhtml+xml") == ("gbk", "xml")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_xml_in_utf_16_needs_no_byte_order_mark(encoding):
    assert detect("<?xml version='1.0'?>".encode(encoding)) == (encoding, "xml")


class Prescan:
    """The algorithm of the HTML standard, byte by byte: "prescan a byte stream" (13.2.3.2)."""

    BLANKS = b"\t\n\f\r "

    def __init__(self, data):
        self.data, self.at = data, 0

    def labels(self):
        try:
            while True:
                yield from self.step()
                self.at += 1
        except IndexError:  # the bytes have ended
            return

    def byte(self):
        if self.at >= len(self.data):
            raise IndexError
        return self.data[self.at : self.at + 1]

    def step(self):
        self.byte()
        rest = self.data[self.at :]
        if rest.startswith(b"<!--"):
            self.at = (
                self.data.index(b"-->", self.at + 2) + 2 if b"-->" in rest[2:] else len(self.data)
            )
        elif rest[:5].lower() == b"<meta" and rest[5:6] and rest[5:6] in self.BLANKS + b"/":
            self.at += 5
            yield from self.meta()
        elif rest[:1] == b"<" and rest[1:].removeprefix(b"/")[:1].isalpha():
            while self.byte() not in self.BLANKS + b">":
                self.at += 1
            while self.attribute():
                pass
        elif rest[:2] in (b"<!", b"</", b"<?"):
            while self.byte() != b">":
                self.at += 1

    def meta(self):
        names, pragma, needs, label = set(), False, None, None
        while found := self.attribute():
            name, value = found
            if name in names:
                continue
            names.add(name)
            if name == b"http-equiv":
                pragma = value == b"content-type"
            elif name == b"content":
                if label is None and (inside := self.content(value)):
                    label, needs = inside, True
            elif name == b"charset":
                label, needs = value, False
        if needs is False or (needs and pragma):
            yield label.decode("latin-1")

    @staticmethod
    def content(value):
        start = 0
        while (found := value.find(b"charset", start)) >= 0:
            rest = value[found + 7 :].lstrip(Prescan.BLANKS)
            if not rest.startswith(b"="):
                start = found + 7
                continue
            rest = rest[1:].lstrip(Prescan.BLANKS)
            if rest[:1] in (b'"', b"'"):
                inside, quote, _ = rest[1:].partition(rest[:1])
                return inside if quote else None
            end = next((i for i, byte in enumerate(rest) if byte in Prescan.BLANKS + b";"), None)
            return rest[:end]
        return None

    def attribute(self):
        while self.byte() in self.BLANKS + b"/":
            self.at += 1
        if self.byte() == b">":
            return None
        name = b""
        while not (self.byte() == b"=" and name):
            if self.byte() in self.BLANKS:
                while self.byte() in self.BLANKS:
                    self.at += 1
                if self.byte() != b"=":
                    return name, b""
                break
            if self.byte() in b"/>":
                return name, b""
            name += self.byte().lower()
            self.at += 1
        self.at += 1
        return name, self.value()

    def value(self):
        while self.byte() in self.BLANKS:
            self.at += 1
        value = b""
        quote = self.byte()
        if quote in b"\"'":
            self.at += 1
            while self.byte() != quote:
                value += self.byte().lower()
                self.at += 1
            self.at += 1
            return value
        while self.byte() not in self.BLANKS + b">":
            value += self.byte().lower()
            self.at += 1
        return value


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    b"<meta",
                    b"<META ",
                    b"<div",
                    b"</p",
                    b"<!--",
                    b"-->",
                    b"<!",
                    b"<?",
                    b"</",
                    b"<",
                    b">",
                ),
                *(
                    b"charset",
                    b"=",
                    b"gbk",
                    b"koi8-r",
                    b"klingon",
                    b'"',
                    b"'",
                    b" ",
                    b"/",
                    b"\n",
                    b";",
                ),
                *(
                    b"http-equiv",
                    b"Content-Type",
                    b"content",
                    b"http-equiv=content-type",
                    b"x",
                    b"--",
                ),
                *(b" content='a;charset=gbk'", b" charset=koi8-r ", b"\"charset='gbk'\""),
            ]
        ),
        max_size=20,
    ).map(b"".join)
)
def test_labels_are_those_that_the_html_standard_finds(document):
    known = {"gbk", "koi8-r"}
    expected = [label for label in Prescan(document).labels() if label.strip() in known]

    encoding, source = detect(document)

    assert (encoding, source) == (
        (expected[0].strip(), "meta") if expected else ("utf-8", "default")
    )


@pytest.mark.parametrize(("label", "codec"), [("latin-1", "utf-8"), ("latin1", "cp1252")])
def test_labels_have_the_meaning_they_have_in_browsers(label, codec):
    # "latin-1" is only Python's name; on the web it is "latin1", and means windows-1252.
    assert detect(b"x", f"text/html; charset={label}")[0] == codec


def test_a_wrong_label_damages_only_some_letters():
    assert decode("café!".encode("cp1252"), "text/html; charset=utf-8") == "caf\ufffd!"
    assert decode("日本".encode(), "text/html; charset=ascii").startswith("æ—¥")


@pytest.mark.parametrize("label", ["utf-16", "utf-16le", "utf-16be", "UTF-16"])
def test_utf_16_in_a_readable_declaration_means_utf_8(label):
    assert detect(f"<meta charset={label}>é".encode()) == ("utf-8", "meta")
    assert detect(f'<?xml version="1.0" encoding="{label}"?>é'.encode()) == ("utf-8", "xml")
    assert detect(b"x", f"text/html; charset={label}")[0].startswith("utf-16")


def test_a_declaration_is_looked_for_in_the_first_1024_bytes_only():
    declaration = b"<meta charset=gbk>"

    last_that_counts = b" " * (1024 - len(declaration)) + declaration
    first_that_does_not = b" " + last_that_counts

    assert detect(last_that_counts) == ("gbk", "meta")
    assert detect(first_that_does_not) == ("utf-8", "default")
    assert detect(b" " * 1024 + declaration) == ("utf-8", "default")


@pytest.mark.parametrize(
    "declaration", [b"<meta charset=iso-8859-15>", b'<?xml version="1.0" encoding="iso-8859-15"?>']
)
def test_a_declaration_cut_by_that_limit_is_not_read_as_another(declaration):
    cut_after_8859_1 = 1024 - declaration.index(b"5>" if b"meta" in declaration else b'5"')

    assert detect(b" " * cut_after_8859_1 + declaration) == ("utf-8", "default")


def test_without_any_label_utf_8_is_utf_8_and_the_rest_windows_1252():
    assert detect("é".encode()) == ("utf-8", "default")
    assert decode("é€".encode("cp1252")) == "é€"
    assert decode(b"") == ""


@given(st.binary(max_size=200), st.sampled_from(sorted(LABELS)), st.sampled_from(["h", "m", "x"]))
def test_any_bytes_under_any_label_of_the_web_are_text(body, label, place):
    head = {"h": "", "m": f"<meta charset={label}>", "x": f"<?xml  encoding='{label}'?>"}[place]

    text = decode(head.encode() + body, f"text/html; charset={label}" if place == "h" else "")

    assert isinstance(text, str)


def test_every_label_of_the_web_names_an_encoding_python_has():
    found = {label: detect(b"x", f"text/html; charset={label}")[0] for label in LABELS}

    assert found == {label: codecs.lookup(name).name for label, name in found.items()}


@given(st.binary(max_size=1200), st.text(st.characters(exclude_categories=())))
@example(b"", "text/html; charset=\udc80")
@example(b"\xff\xfe\x00", "")
@example(b"<meta charset=x-user-defined>", "")
def test_any_bytes_and_any_content_type_are_text(body, content_type):
    text = decode(body, content_type)

    assert isinstance(text, str)
    text.encode("utf-8", "surrogatepass")


@given(st.text())
def test_utf_8_comes_out_as_it_went_in(text):
    assert decode(text.encode(), "text/html; charset=utf-8") == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "text/html; charset=" + " " * 50_000 + ";"),
        (b"", "charset" + " " * 50_000),
        (b"", "charset=" * 5_000 + " ;"),
        (b"<meta " * 50 + b"charset=" + b" " * 700 + b"<", ""),
        (b"<meta " * 80 + b"charset " * 60, ""),
        (b"<!--" * 250, ""),
        (b"<?xml " + b"encoding= " * 90, ""),
    ],
)
def test_a_hostile_declaration_costs_no_time(body, content_type):
    # Repeated reading of a run of blanks took seconds, and blocked every other greenlet.
    assert takes_at_most(1, lambda: decode(body, content_type))


@pytest.mark.parametrize("label", sorted(set(LABELS.values()) - {"replacement", "x-user-defined"}))
def test_bytes_that_mean_nothing_are_replaced_as_python_does(label):
    body = bytes(range(256)) * 2 + bytes(reversed(range(256)))
    content_type = f"text/html; charset={label}"

    assert decode(body, content_type) == body.decode(detect(body, content_type)[0], "replace")


@pytest.mark.parametrize("label", ["windows-1252", "windows-1257", "iso-8859-7", "koi8-r", "cp866"])
def test_bytes_that_mean_nothing_take_no_longer_than_others(label):
    """Python itself takes a hundred times as long: four seconds for a page of ten megabytes."""

    def decode_all(byte):
        decode(byte * 300_000, f"text/html; charset={label}")

    for byte in (b"\x81", b"\xff", b"\xa1", b"\xd2"):
        assert costs_at_most(10, partial(decode_all, byte), partial(decode_all, b"\xe1"))
