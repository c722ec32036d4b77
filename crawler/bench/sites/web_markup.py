"""The pieces of markup that the pages of a WebShape are made of."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

WORDS = (  # noqa: SIM905 - words are easier to read in a line
    "amber basin cedar delta ember fjord grove harbor island juniper kettle lantern meadow "
    "nectar orchard pebble quarry river summit timber"
).split()
SECTIONS = ("news", "guides", "sport", "culture", "science", "travel", "opinion", "archive")
#: What titles and texts have between words, apart from blanks.
_ENTITIES = (" &amp; ", " &mdash; ", ", ", " &#8217;s ", ".&nbsp;", " é ", " — ")

_STYLE = "".join(
    f".{word}-{n}{{margin:{n}px auto;color:#{n:03d};background:url(/img/{word}.png) no-repeat}}\n"
    f"@media (max-width:{600 + n}px){{.{word}-{n}>li:hover a[href^='/']{{display:none}}}}\n"
    for n, word in enumerate(WORDS[:8], 10)
)
_SCRIPT = """
(function (w, d) {
  w.dataLayer = w.dataLayer || [];
  if (w.innerWidth < 720 && d.cookie.indexOf("seen=1") < 0) {
    d.write('<a class="promo" href="/not-a-link-from-a-script">' + w.title + "</a>");
  }
  for (var i = 0; i < 10; i++) { w.dataLayer.push({ event: "view", position: i, path: d.location.pathname }); }
})(window, document);
"""
_HEAD = """<!DOCTYPE html>
<html lang="en" class="no-js" data-theme='light'>
<head>
<meta charset="utf-8">
<title>{title} | The &quot;Daily&quot; Site</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{text}">
<meta property="og:title" content="{title}"><meta property="og:type" content="article">
<link rel="stylesheet" href="/assets/main.css?v=3.1.4" media="all">
<link rel="icon" href="/favicon.ico"><link rel="alternate" type="application/rss+xml" href="/feed.xml">
<script src="/assets/vendor.min.js" async></script>
<script type="application/ld+json">{{"@context":"https://schema.org","@type":"Article","headline":"page {number}","url":"<a href='/not-a-link-from-json'>"}}</script>
<style>
{style}</style>
<script>{script}</script>
<!-- <a href="/not-a-link-from-a-comment">old navigation</a> -->
</head>
<body class="page page--{number} has-sidebar" id="top">
<noscript><img height="1" width="1" alt="" src="https://stats.example/pixel?id=1&amp;noscript=1"></noscript>
"""
_NAVIGATION = """<header class="site-header" role="banner"><div class="wrap"><div class="row">
<a class="logo" href="/" title="Home"><svg width="24" height="24" viewBox="0 0 24 24"><path d="M3 12l9-9 9 9v9H3z"/></svg><span class="visually-hidden">Home</span></a>
<form class="search" action="/search" method="get"><input type="search" name="q" placeholder="Search&hellip;" required><button type=submit class="btn btn--icon">Go</button></form>
<nav class="nav" aria-label="Main"><ul class="nav__list">
{items}
<li class="nav__item"><a class="nav__link" href="javascript:void(0)" onclick="toggle('more')">More</a></li>
</ul></nav></div></div></header>
<main class="content"><div class="wrap"><div class="grid"><div class="grid__main">
"""
_CHILDREN = """<ul class="children list-unstyled" data-module="related">
{items}
</ul>
"""
_FOOT = """</div><aside class="sidebar" data-sticky="true"><div class="ad" id="ad-{number}"><!-- ad --></div></aside></div></div></main>
<footer class="footer"><div class="wrap"><ul class="footer__links">
{items}
<li><a href="mailto:editor@site.example">Mail</a></li><li><a href="tel:+3725550100">Call</a></li>
<li><a href="#top" class="to-top">Top</a></li><li><a name="end">&copy; 2024</a></li>
</ul></div></footer>
<script>window.requests = {{"page": {number}, "html": "<\\/div>"}};</script>
</body>
</html>
"""
_FOREIGN = "".join(
    f'<li><a class="footer__link" rel="noopener" target="_blank" href="{start}elsewhere-{n}.example/about/?ref=site&amp;n={n}">Elsewhere {n}</a></li>\n'
    for n, start in enumerate(("https://", "https://www.", "//", "http://", "https://", "//cdn."))
)
_CARD = """<article class="card card--wide teaser" id="card-{number}" data-id="{number}" data-track='{{"list":"main","position":{number}}}'>
<div class="card__media"><a class="card__image" href="{first}" title="{title}" tabindex="-1" aria-hidden="true"><img class="lazy" src="/img/blank.gif" data-src="/img/{number}-320.jpg" srcset="/img/{number}-320.jpg 320w, /img/{number}-640.jpg 640w" alt="{title}" width="320" height="180" loading="lazy"></a></div>
<div class="card__body"><h3 class="card__title"><a class="link link--title" href="{first}">{title}</a></h3>
<p class="card__text">{text}</p>
<ul class="meta"><li class="meta__item"><time datetime="2024-05-17T09:30:00+02:00">17 May</time></li><li class="meta__item"><a href='{second}' rel='tag' class='tag'>{word}</a></li></ul></div>
</article>
"""
_PARAGRAPH = """<div class="text"><div class="text__inner"><p>{text} <a href="{first}">{word}</a>, <em>{title}</em>. {more}</p>
<p class="note"><strong>Note:</strong> {more} 1 &lt; 2 &amp;&amp; 3 &gt; 2</p></div></div>
"""
_TABLE = """<table class="data"><thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>
<tr><td><a href={unquoted}>{word}</a></td><td data-value="{number}">{number}</td></tr>
<tr><td>{title}</td><td>{text}</td></tr></tbody></table>
"""
_FIGURE = """<figure class="figure"><picture><source srcset="/img/{number}.webp" type="image/webp"><img src="/img/{number}.jpg" alt="{title}"></picture><figcaption>{text} <A HREF="https://pictures.example/{word}?size=large&amp;n={number}">source</A></figcaption></figure>
"""
_BLOCKS = (_CARD, _CARD, _CARD, _PARAGRAPH, _PARAGRAPH, _PARAGRAPH, _TABLE, _FIGURE)


@lru_cache(256)
def _text(words: int, seed: int) -> str:
    """Return a text of so many *words*; few seeds are used, so that few texts are made."""
    chance = random.Random(seed)
    pieces = [
        chance.choice(WORDS) + (chance.choice(_ENTITIES) if chance.random() < 0.1 else " ")
        for _ in range(words)
    ]
    return "".join(pieces).strip().capitalize()


def text(words: int, chance: random.Random) -> str:
    return _text(words, chance.randrange(32))


def head(number: int, chance: random.Random) -> str:
    return _HEAD.format(
        number=number,
        title=f"{text(5, chance)} {number}",
        text=text(20, chance),
        style=_STYLE[: chance.randrange(len(_STYLE))],
        script=_SCRIPT,
    )


def navigation(hrefs: Sequence[str]) -> str:
    items = (
        f'<li class="nav__item"><a class="nav__link" href="{href}" data-section="{n}">Section {n}</a></li>'
        for n, href in enumerate(hrefs)
    )
    return _NAVIGATION.format(items="\n".join(items))


def children(hrefs: Sequence[str], chance: random.Random) -> str:
    items = (
        f'<li class="children__item"><a class="link" href="{href}">{text(4, chance)}</a></li>'
        for href in hrefs
    )
    return _CHILDREN.format(items="\n".join(items))


def block(links: Iterator[str], chance: random.Random) -> str:
    """Return a block of the page's main part, with one to three of its *links*."""
    first = next(links)
    return chance.choice(_BLOCKS).format(
        first=first,
        second=next(links),
        # A value without quotes must not have an equals sign.
        unquoted=f'"{first}"' if "=" in first else first,
        number=chance.randrange(10_000),
        word=chance.choice(WORDS),
        title=text(6, chance),
        text=text(40, chance),
        more=text(60, chance),
    )


def foot(chance: random.Random) -> str:
    return _FOOT.format(items=_FOREIGN, number=chance.randrange(1000))
