"""
Items with declared fields, and the loaders that fill them.

``from crawler.items import Field, Item, ItemLoader`` is what a ported spider needs; dicts,
dataclasses, attrs and pydantic objects are items as well, and loaders fill them too.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, ClassVar

import itemloaders
from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface


class Field(dict[str, Any]):
    """A field of an item, and what loaders know of it: input_processor and output_processor."""


class Item(MutableMapping[str, Any]):
    """
    A mapping that has no other keys than the fields that its class declares.

        class Quote(Item):
            text = Field()
            author = Field(output_processor=TakeFirst())
    """

    fields: ClassVar[Mapping[str, Field]] = MappingProxyType({})

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name in own:
            delattr(cls, name)
        cls.fields = MappingProxyType({**cls.fields, **own})

    def __init__(self, *values: Any, **more: Any) -> None:
        self._values: dict[str, Any] = {}
        self.update(*values, **more)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.fields:
            known = ", ".join(self.fields) or "none"
            raise KeyError(f"{type(self).__name__} has no field {name!r}; it has {known}")
        self._values[name] = value

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"


class ItemLoader(itemloaders.ItemLoader):
    """Fills an item from a page: ``ItemLoader(Quote(), response=page)``; see itemloaders."""

    def __init__(
        self,
        item: Any = None,
        selector: Any = None,
        response: Any = None,
        parent: Any = None,
        **context: Any,
    ) -> None:
        if selector is None and response is not None:
            selector = response.selector
        context["response"] = response
        super().__init__(item=item, selector=selector, parent=parent, **context)


class _FieldItems(AdapterInterface):
    """Lets itemadapter, and so loaders, read the fields of an Item."""

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, Item)

    @classmethod
    def get_field_meta_from_class(
        cls, item_class: type, field_name: str
    ) -> MappingProxyType[str, Any]:
        return MappingProxyType(item_class.fields[field_name])  # type: ignore[attr-defined]

    @classmethod
    def get_field_names_from_class(cls, item_class: type) -> list[str]:
        return list(item_class.fields)  # type: ignore[attr-defined]

    def field_names(self) -> KeysView[str]:
        return KeysView(self.item.fields)

    def __getitem__(self, name: str) -> Any:
        return self.item[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.item[name] = value

    def __delitem__(self, name: str) -> None:
        del self.item[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.item)

    def __len__(self) -> int:
        return len(self.item)


ItemAdapter.ADAPTER_CLASSES = [_FieldItems, *ItemAdapter.ADAPTER_CLASSES]
