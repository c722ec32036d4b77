"""The web that both spiders of a pair crawl: a shop and a page of quotes, behind a proxy on this machine."""

import gzip
import json
from urllib.parse import parse_qs, urlsplit

from crawler.testing import Reply

AUTHORS = {"Ada": "1815", "Grace": "1906", "Alan": "1912"}
TAGS = ["love", "humor", "life"]
QUOTES = [
    {"text": f"Quote {n}", "author": [*AUTHORS][n % 3], "tags": [TAGS[n % 3], TAGS[n % 2]]}
    for n in range(12)
]
PRODUCTS = {n: {"name": f"Tea No. {n}", "price": f"£ {n}.50", "stock": n % 4} for n in range(1, 10)}


def _quote(quote):
    tags = "".join(f'<a class="tag" href="/tag/{tag}/">{tag}</a>' for tag in quote["tags"])
    return (
        f'<div class="quote"><span class="text">{quote["text"]}</span><span>by <small class="author">'
        f'{quote["author"]}</small> <a href="/author/{quote["author"]}">(about)</a></span>'
        f'<div class="tags">{tags}</div></div>'
    )


def _quotes(page):
    after = f'<li class="next"><a href="/page/{page + 1}/">Next</a></li>' if page < 3 else ""
    quotes = "".join(map(_quote, QUOTES[page * 4 - 4 : page * 4]))
    return f"<html><body><h1>Quotes</h1>{quotes}<ul>{after}</ul></body></html>"


def _author(name):
    return (
        f'<h3 class="author-title">{name}\n </h3><span class="author-born-date">{AUTHORS[name]}</span>'
        f'<div class="author-description">\n {name} wrote.</div>'
    )


def _json(value, status=200):
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(value))


def _api(request):
    """Return four quotes of a tag; those of the next page if asked for."""
    given = parse_qs(urlsplit(request.url).query)
    page, tag = int(given.get("page", "1")[0]), given["tag"][0]
    if request.headers.get("X-Key") != "k1":
        return _json({"error": "no key"}, 403)
    found = [quote for quote in QUOTES if tag in quote["tags"]]
    return _json({"quotes": found[page * 4 - 4 : page * 4], "has_next": len(found) > page * 4})


def _search(request):
    asked = json.loads(request.body)
    found = [quote for quote in QUOTES if quote["author"] == asked["author"]]
    return _json({"texts": [quote["text"] for quote in found][: asked["limit"]]})


def _cookies(request):
    pairs = (one.partition("=") for one in request.headers.get("Cookie", "").split("; "))
    return {name: value for name, _, value in pairs}


def _login_form(_request):
    form = (
        '<form action="/search"><input name="q"></form><form id="login" action="/login" method="post">'
        '<input type="hidden" name="csrf_token" value="t0k&amp;n"><input name="username" value="guest">'
        '<input name="password" type="password"><input type="submit" name="go" value="Login"></form>'
    )
    return Reply(200, {"Set-Cookie": "visit=1; Path=/"}, form)


def _login(request):
    sent = {name: value[0] for name, value in parse_qs(request.body.decode()).items()}
    wanted = {"csrf_token": "t0k&n", "username": "ada", "password": "lovelace", "go": "Login"}
    if sent != wanted or _cookies(request).get("visit") != "1":
        return Reply(200, {}, "<p class='error'>wrong login</p>")
    return Reply(302, {"Location": "/private", "Set-Cookie": "session=ada; Path=/; HttpOnly"})


def _private(request):
    if _cookies(request).get("session") != "ada":
        return Reply(302, {"Location": "/login"})
    return (
        "<h1>Hello ada</h1><ul><li>secret 1</li><li>secret 2</li></ul><a href='/logout'>Logout</a>"
    )


def _basket(request):
    """Count the visits of a session in its cookie."""
    visits = int(_cookies(request).get("visits", "0")) + 1
    return Reply(200, {"Set-Cookie": f"visits={visits}; Path=/"}, f"<p>{visits}</p>")


def _echo(request):
    return _json({name.lower(): value for name, value in request.headers.items()})


def _product(number):
    product = PRODUCTS[number]
    return (
        f'<html><body><nav><a href="/">home</a></nav><h1> {product["name"]}\n</h1><p class="price">{product["price"]}</p>'
        f'<ul class="facts"><li>origin: <b>Assam</b></li><li>stock: <b>{product["stock"]}</b></li></ul>'
        f'<div class="more"><a href="/product/{number % 9 + 1}.html?from={number}">next</a></div>'
        f'<a class="leaf" href="/leaf/{number % 3}.pdf">leaf</a></body></html>'
    )


def _category(letter, numbers):
    products = "".join(f'<li><a href="/product/{n}.html">{n}</a></li>' for n in numbers)
    return (
        f"<html><body><h1>{letter}</h1><ul class='products'>{products}</ul>"
        "<a href='/login'>login</a><a href='/logo.png'>logo</a><a href='http://ads.test/'>ad</a></body></html>"
    )


def _sitemap(kind, locations):
    one = {"urlset": "url", "sitemapindex": "sitemap"}[kind]
    found = "".join(f"<{one}><loc>{location}</loc></{one}>" for location in locations)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{found}</{kind}>'


def _xml(text):
    return Reply(200, {"Content-Type": "application/xml"}, text)


def _guarded(request):
    return "<p>tea</p>" if request.headers.get("X-Agent") == "tea-bot" else "<p>please wait</p>"


def _orders(request):
    if request.headers.get("Authorization") != "Basic YWRhOmxvdmVsYWNl":
        return Reply(401, {"WWW-Authenticate": 'Basic realm="shop"'})
    return "<ul><li>a pound of tea</li></ul>"


def pages():
    """Return the pages by URL."""
    quotes, shop = "http://quotes.test", "http://shop.test"
    return {
        f"{quotes}/": _quotes(1),
        **{f"{quotes}/page/{number}/": _quotes(number) for number in (1, 2, 3)},
        **{f"{quotes}/author/{name}": _author(name) for name in AUTHORS},
        **{
            f"{quotes}/tag/{tag}/": "".join(_quote(q) for q in QUOTES if tag in q["tags"])
            for tag in TAGS
        },
        f"{quotes}/api/quotes": _api,
        f"{quotes}/api/search": _search,
        f"{quotes}/login": lambda request: (
            _login(request) if request.method == "POST" else _login_form(request)
        ),
        f"{quotes}/private": _private,
        f"{quotes}/echo": _echo,
        f"{shop}/": "<h1>Shop</h1><nav><a href='/category/a'>a</a><a href='/category/b'>b</a></nav>"
        "<a href='/product/9.html'>offer</a>",
        f"{shop}/category/a": _category("a", range(1, 5)),
        f"{shop}/category/b": _category("b", range(4, 8)),
        **{f"{shop}/product/{number}.html": _product(number) for number in PRODUCTS},
        **{
            f"{shop}/leaf/{n}.pdf": Reply(
                200, {"Content-Type": "application/pdf"}, b"%PDF-" + b"x" * n
            )
            for n in (1, 2)
        },
        f"{shop}/basket": _basket,
        f"{shop}/guarded": _guarded,
        f"{shop}/orders": _orders,
        f"{shop}/old": Reply(301, {"Location": "/product/1.html"}),
        f"{shop}/broken": Reply(500, {}, "oops"),
        f"{shop}/cut": ConnectionError,
        f"{shop}/robots.txt": Reply(
            200,
            {"Content-Type": "text/plain"},
            f"User-agent: *\nAllow: /\nSitemap: {shop}/sitemap.xml\n",
        ),
        f"{shop}/sitemap.xml": _xml(
            _sitemap(
                "sitemapindex", [f"{shop}/sitemap-products.xml.gz", f"{shop}/sitemap-news.xml"]
            )
        ),
        f"{shop}/sitemap-products.xml.gz": Reply(
            200,
            {"Content-Type": "application/gzip"},
            gzip.compress(
                _sitemap(
                    "urlset",
                    [*(f"{shop}/product/{n}.html" for n in PRODUCTS), f"{shop}/category/a"],
                ).encode()
            ),
        ),
        f"{shop}/sitemap-news.xml": _xml(_sitemap("urlset", [f"{shop}/category/b"])),
        f"{shop}/prices.xml": _xml(
            "<list>"
            + "".join(
                f"<tea id='{n}'><name>{p['name']}</name><price>{p['price']}</price></tea>"
                for n, p in PRODUCTS.items()
            )
            + "</list>"
        ),
        "http://ads.test/": "<h1>Buy!</h1>",
    }
