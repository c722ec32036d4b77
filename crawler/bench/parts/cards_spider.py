"""Cards: the spider for the comparison of analyzers, in a file of its own like a user's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...spider import Page, Spider


class Cards(Spider):
    """Yields an item for each card of a page, and follows the links."""

    name = "cards"

    def parse(self, response: Page) -> Iterator[Any]:
        for card in response.xpath("//div[@class='card']"):
            yield {
                "page": response.url,
                "title": card.xpath(".//h2/text()").get(),
                "price": card.xpath("normalize-space(.//span[@class='price'])").get(),
                "link": card.xpath(".//a[@class='more']/@href").get(),
                "tags": card.xpath(".//ul/li/text()").getall(),
            }
        yield from response.follow_all(xpath="//nav//a")
