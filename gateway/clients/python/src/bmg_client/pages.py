"""Reads a list page by page as one sequence of its items."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Iterator

from .lists import LISTS
from .rest.client import Client

# The arguments of the next page; None after the last one.
Next = Callable[[Any, int], "dict[str, Any] | None"]


def _by_offset(page: Any, items: int) -> dict[str, Any] | None:
    return None if items < page.limit else {"offset": page.offset + items}


def _by_cursor(argument: str) -> Next:
    def following(page: Any, _items: int) -> dict[str, Any] | None:
        position = page.next_ if hasattr(page, "next_") else page.paging.cursors.after
        return None if position is None else {argument: position}

    return following


def read_pages(client: Client, endpoint: ModuleType, arguments: dict[str, Any]) -> Iterator[Any]:
    name = endpoint.__name__.rpartition(".")[2]
    if name not in LISTS:
        raise ValueError(f"{name} has no pages; the lists are {', '.join(LISTS)}")
    items, argument = LISTS[name]
    following = _by_offset if argument == "offset" else _by_cursor(argument)
    more: dict[str, Any] | None = {}
    while more is not None:
        page = endpoint.sync(client=client, **{**arguments, **more})
        found = getattr(page, items)
        yield from found
        more = following(page, len(found))
