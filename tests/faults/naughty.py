"""Strings that break what they are put into."""

_CONTROLS = [chr(n) for n in (*range(32), 0x7F, *range(0x80, 0xA0))]
_INVISIBLE = [chr(n) for n in (0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F))]
_INVISIBLE += [chr(n) for n in (*range(0x2060, 0x206A), 0xFEFF, 0xFFF9, 0xFFFD, 0xFFFE, 0xFFFF)]
_BEYOND = [
    "\U0001f4a9",
    "\U0010ffff",
    "e\u0301" * 40,
    "👩‍👩‍👧‍👦",
    "\u0338" * 200,
    "Ω≈ç√∫˜µ≤≥÷",
    "İıſK",
]
_SURROGATES = ["\ud800", "\udfff", "a\udcffb", "\ud83d\ude00", "\ude00\ud83d"]
_FORMULAS = [
    *(
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "=cmd|' /C calc'!A0",
        "==",
        "-",
        "+",
        "@",
    ),
    *('=HYPERLINK("http://evil.test")', "|cmd", "%0A=1", "=IMPORTXML(1)", "'=1", '"=1"'),
]
_SEPARATORS = [
    *('"', "'", "`", ",", ";", "\t", "|", "\\", '\\"', '","', '"\r\n"', "a\nb\r\nc\rd", '""')
]
_JSON = [
    *(
        "{",
        "}",
        "[",
        "]",
        '{"a":',
        "\\u0000",
        "\\",
        "\\x41",
        "null",
        "true",
        "NaN",
        "Infinity",
        "-0",
    ),
    *("1e999", "0x1f", "\u2028", '"}]', "//", "/* */", "undefined", "__proto__", "constructor"),
]
_TERMINALS = [
    *("\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x1b[8m", "\x9b31m", "\x1b]8;;http://e.test\x07"),
    *("\x1bP+q544e\x1b\\", "\x08\x08\x08", "\r overwritten", "\x1bc", "\x1b[?25l", "\x07" * 10),
]
_MARKUP = [
    *(
        "<",
        ">",
        "&",
        "&amp;",
        "<script>alert(1)</script>",
        "</title><b>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
    ),
    *(
        '"><img src=x onerror=alert(1)>',
        "javascript:alert(1)",
        "&#0;",
        "&#x1F4A9;",
        "&lt;b&gt;",
        "<?xml?>",
    ),
    *(
        "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>",
        "{{7*7}}",
        "${7*7}",
        "#{7*7}",
        "<%= 7 %>",
    ),
]
_COMMANDS = [
    *(
        "'; DROP TABLE items; --",
        '" OR 1=1 --',
        "1;SELECT 1",
        "Robert'); --",
        "$(touch /tmp/x)",
        "`id`",
    ),
    *(
        "; ls",
        "| ls",
        "&& ls",
        "../../../etc/passwd",
        "..\\..\\x",
        "C:\\con",
        "/dev/null",
        "~",
        "*",
        "?",
    ),
    *(
        "%s%s%n",
        "%x%x",
        "{0.__class__}",
        "{}",
        "%(a)s",
        "$HOME",
        "!!",
        "-rf",
        "--help",
        "CON",
        "nul.txt",
    ),
]
_WORDS = [
    "",
    " ",
    "  a  ",
    "None",
    "null",
    "nan",
    "0",
    "-1",
    "1.0",
    "1,5",
    "１２３",
    "٣",
    "²",
    "true",
    "\\N",
]
_LONG = [
    "a" * 100_000,
    "é" * 70_000,
    '"' * 5000,
    "\n" * 5000,
    "\\" * 5000,
    "\x00" * 1000,
    "=" * 3000,
]
_MIXED = [
    "a\x00b",
    "\x00",
    "a\x1ab",
    "\x1a",
    "\ufeffa",
    "a\u202eb\u202c",
    "\u2066a\u2069",
    "\xa0a\xa0",
]

NAUGHTY = [
    *(*_CONTROLS, *_INVISIBLE, *_BEYOND, *_SURROGATES, *_FORMULAS, *_SEPARATORS, *_JSON),
    *(*_TERMINALS, *_MARKUP, *_COMMANDS, *_WORDS, *_LONG, *_MIXED),
]
