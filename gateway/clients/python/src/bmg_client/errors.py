"""The error that the client raises: an error answer of the gateway, with its fields."""

from __future__ import annotations

import json
import math
from typing import Any, Mapping

import httpx

# A code of the client, not of the gateway.
UNEXPECTED_ANSWER = "UNEXPECTED_ANSWER"
RETRY_AFTER_MAX_S = 60.0


class GatewayError(Exception):
    """Branch on `code`. Repeat the unchanged request only if `retryable` is true."""

    def __init__(self, status: int, fields: Mapping[str, Any], retry_after_s: float | None = None):
        super().__init__(str(fields.get("message", "")))
        self.status = status
        self.code = str(fields.get("code", UNEXPECTED_ANSWER))
        self.message = str(fields.get("message", ""))
        self.retryable = fields.get("retryable") is True
        self.details: Any = fields.get("details")
        self.upstream_code: int | None = fields.get("upstream_code")
        self.upstream_subcode: int | None = fields.get("upstream_subcode")
        self.payment_url: str | None = fields.get("payment_url")
        self.doc_url = str(fields.get("doc_url", ""))
        self.request_id = str(fields.get("request_id", ""))
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def error_of(response: httpx.Response, body: bytes, *, is_safe: bool) -> GatewayError | None:
    """The error of an answer; None for a success.

    An answer that is not the gateway's, such as the HTML page of a proxy, has the code UNEXPECTED_ANSWER.
    Whether a proxy passed the request on is unknown, so only a request that is safe to repeat is retryable.
    """
    content_type = response.headers.get("content-type", "")
    wait_s = retry_after(response.headers)
    if response.is_success and not content_type.startswith("text/html"):
        return None
    fields = None if response.is_success else _fields(body)
    if fields is not None:
        return GatewayError(response.status_code, fields, wait_s)
    status = 502 if response.is_success else response.status_code
    passes = status >= 500 or status in (408, 429)
    received = content_type or "no content type"
    return GatewayError(
        status,
        {
            "code": UNEXPECTED_ANSWER,
            "message": f"HTTP {response.status_code} with {received}: not an answer of the gateway",
            "details": None if is_safe or not passes else {"outcome": "unknown"},
            "retryable": is_safe and passes,
            "request_id": response.headers.get("x-request-id", ""),
        },
        wait_s,
    )


def _fields(body: bytes) -> dict[str, Any] | None:
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return None
    return error if isinstance(error, dict) and isinstance(error.get("code"), str) else None


def retry_after(headers: httpx.Headers) -> float | None:
    """`Retry-After` in seconds, at most a minute; None if the answer has none in seconds."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(max(seconds, 0.0), RETRY_AFTER_MAX_S) if math.isfinite(seconds) else None
