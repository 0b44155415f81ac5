"""The connection to a gateway: the generated client, with retries, pages and events."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any, Iterator, TypeVar

import httpx

from .errors import UNEXPECTED_ANSWER, GatewayError
from .events import WAIT_S, OnInterruption, read_events
from .pages import read_pages
from .rest.client import Client
from .rest.models import Error, LoggedEvent
from .retries import RetryingTransport

T = TypeVar("T")

# A request without an answer for longer than this counts as lost.
ANSWER_LIMIT_S = float(WAIT_S + 15)


def ok(answer: T | Error | None) -> T:
    """The answer of a call, with the type of its success. Error answers were raised before."""
    if answer is None or isinstance(answer, Error):
        raise GatewayError(0, {"code": UNEXPECTED_ANSWER, "message": "the document has no such answer"})
    return answer


class Gateway(Client):
    """Pass it as `client` to the functions of `bmg_client.rest.api`.

    `base_url` ends with `/v1`, for example `https://gateway.example.com/v1`. `partner_key` is a full
    credential: keep it on your server. `attempts_max` is for requests that may be repeated; 1 switches
    retries off.
    """

    def __init__(
        self,
        base_url: str,
        partner_key: str,
        *,
        attempts_max: int = 4,
        transport: httpx.BaseTransport | None = None,
    ):
        base_url = base_url.rstrip("/")
        super().__init__(base_url=base_url)
        self.set_httpx_client(
            httpx.Client(
                base_url=base_url,
                headers={"x-partner-key": partner_key},
                timeout=ANSWER_LIMIT_S,
                transport=RetryingTransport(
                    base_url=base_url,
                    attempts_max=attempts_max,
                    transport=transport or httpx.HTTPTransport(),
                ),
            )
        )

    def events(
        self,
        *,
        after: int | None = None,
        stop: threading.Event | None = None,
        on_interruption: OnInterruption | None = None,
        **query: Any,
    ) -> Iterator[LoggedEvent]:
        """The events of the log from `after` on, one by one; it waits for new ones, and for the gateway.

        Store `seq` together with what you made of an event, and pass it as `after` to continue. It ends
        when `stop` is set, after the request in flight. `query`: `event` and `limit` of `GET /events`.
        `on_interruption` is called before each wait of an interruption. Raises only what does not pass by
        itself, such as a refused key.
        """
        return read_events(self, after=after, stop=stop, on_interruption=on_interruption, **query)

    def list(self, endpoint: ModuleType, **arguments: Any) -> Iterator[Any]:
        """The items of a list, from its first page to its last: `gateway.list(list_messages)`."""
        return read_pages(self, endpoint, arguments)
