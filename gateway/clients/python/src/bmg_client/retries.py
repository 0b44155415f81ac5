"""Repeats a request where that is safe.

That is the case if the error is retryable (`retryable`), or if the connection failed and the request changes
nothing or has an Idempotency-Key. Sends get such a key by themselves, the same on each attempt.
"""

from __future__ import annotations

import random
import time
import uuid
from itertools import count
from typing import Callable

import httpx

from .errors import error_of
from .idempotent import IDEMPOTENT_PATHS

FIRST_WAIT_S = 0.25
WAIT_MAX_S = 60.0
KEY = "Idempotency-Key"


def backoff(attempt: int) -> float:
    """Growing waits with some chance in them."""
    # 2 to the power of 16 waits are beyond the maximum already.
    wait_s = min(FIRST_WAIT_S * 2.0 ** min(attempt - 1, 16), WAIT_MAX_S)
    return wait_s * (0.5 + random.random() / 2)


class RetryingTransport(httpx.BaseTransport):
    """Raises GatewayError for every error answer that is left after the last attempt."""

    def __init__(
        self,
        *,
        base_url: str,
        attempts_max: int,
        transport: httpx.BaseTransport,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._root = httpx.URL(base_url).path.rstrip("/")
        self._attempts_max = attempts_max
        self._transport = transport
        self._sleep = sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix(self._root)
        if request.method == "POST" and path in IDEMPOTENT_PATHS and KEY not in request.headers:
            request.headers[KEY] = str(uuid.uuid4())
        is_safe = request.method == "GET" or KEY in request.headers
        for attempt in count(1):
            is_last = attempt >= self._attempts_max
            try:
                response, body = self._answer(request)
            except httpx.TransportError:
                if is_last or not is_safe:
                    raise
                self._sleep(backoff(attempt))
                continue
            error = error_of(response, body, is_safe=is_safe)
            if error is None:
                return response
            if is_last or not error.retryable:
                raise error
            wait_s = error.retry_after_s
            self._sleep(backoff(attempt) if wait_s is None else wait_s)
        raise AssertionError("the attempts have no end")

    def _answer(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        """The whole answer: a connection that breaks inside the body is an attempt that failed."""
        streamed = self._transport.handle_request(request)
        try:
            # The bytes as sent, perhaps compressed: the second response decodes them again.
            raw = b"".join(streamed.stream)  # type: ignore[arg-type]
        finally:
            streamed.close()
        response = httpx.Response(
            streamed.status_code,
            headers=streamed.headers,
            stream=httpx.ByteStream(raw),
            extensions=streamed.extensions,
            request=request,
        )
        copy = httpx.Response(streamed.status_code, headers=streamed.headers, content=raw)
        return response, copy.read()

    def close(self) -> None:
        self._transport.close()
