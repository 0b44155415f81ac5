"""Reads the event log as one endless sequence, which outlives restarts of the gateway and of the network."""

from __future__ import annotations

import threading
from typing import Any, Callable, Iterator

import httpx

from .errors import GatewayError
from .rest.api.event_log import list_events
from .rest.client import Client
from .rest.models import ListEventsAnswer, LoggedEvent
from .retries import backoff

# The longest that the gateway holds a request.
WAIT_S = 20
INTERRUPTION_WAIT_MAX_S = 30.0

OnInterruption = Callable[[Exception, float], None]


def read_events(
    client: Client,
    *,
    after: int | None,
    stop: threading.Event | None,
    on_interruption: OnInterruption | None,
    **query: Any,
) -> Iterator[LoggedEvent]:
    ended = stop or threading.Event()
    if after is not None:
        query["after"] = after
    failures = 0
    while not ended.is_set():
        try:
            page = list_events.sync(client=client, wait=WAIT_S, **query)
        except (GatewayError, httpx.TransportError) as error:
            if not _passes(error):
                raise
            failures += 1
            given = error.retry_after_s if isinstance(error, GatewayError) else None
            wait_s = min(backoff(failures), INTERRUPTION_WAIT_MAX_S) if given is None else given
            if on_interruption:
                on_interruption(error, wait_s)
            ended.wait(wait_s)
            continue
        if not isinstance(page, ListEventsAnswer):
            raise TypeError(f"GET /events has an answer of type {type(page).__name__}")
        failures = 0
        for event in page.events:
            # A stop ends the sequence between two events: the next one was not processed.
            if ended.is_set():
                return
            yield event
        query["after"] = page.next_


def _passes(error: Exception) -> bool:
    return not isinstance(error, GatewayError) or error.status >= 500 or error.status == 429
