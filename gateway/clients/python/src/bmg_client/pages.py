"""Reads a list page by page as one sequence of its items."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Iterator

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


# Every list that has pages, with the name of its items; the event log has `events()`.
LISTS: dict[str, tuple[str, Next]] = {
    "list_clients": ("clients", _by_offset),
    "list_broadcasts": ("broadcasts", _by_offset),
    "list_messages": ("messages", _by_cursor("cursor")),
    "list_failed_events": ("events", _by_cursor("cursor")),
    "get_ledger": ("entries", _by_cursor("after")),
    "list_blocked": ("blocked", _by_cursor("after")),
    "list_groups": ("groups", _by_cursor("after")),
}


def read_pages(client: Client, endpoint: ModuleType, arguments: dict[str, Any]) -> Iterator[Any]:
    name = endpoint.__name__.rpartition(".")[2]
    if name not in LISTS:
        raise ValueError(f"{name} has no pages; the lists are {', '.join(LISTS)}")
    items, following = LISTS[name]
    more: dict[str, Any] | None = {}
    while more is not None:
        page = endpoint.sync(client=client, **{**arguments, **more})
        found = getattr(page, items)
        yield from found
        more = following(page, len(found))
