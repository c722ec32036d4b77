"""OwnSettings: the settings that a spider gives, and no others."""

from __future__ import annotations

from typing import Any, NoReturn


class OwnSettings(dict[str, Any]):
    """
    The mapping ``settings`` of a spider class.

    In Scrapy, ``self.settings`` has every setting of the crawl. To ask here for one by its name
    there (capital letters) is an error, because the answer would always be that there is none.
    """

    def get(self, name: str, default: Any = None) -> Any:
        if name.isupper():
            self.__missing__(name)
        return super().get(name, default)

    def __missing__(self, name: str) -> NoReturn:
        raise KeyError(
            f"self.settings has only what the class of the spider sets, and no {name!r}: for a value "
            "of your own, write self.name and give -a name=value; `crawler settings` lists ours"
        )

    getbool = getint = getfloat = getlist = getdict = get
