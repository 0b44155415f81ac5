"""Verifies an event that was posted to a webhook URL."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Iterable, Mapping

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from .rest.models import EventEnvelope


def verify_webhook(
    headers: Mapping[str, str], body: bytes, secrets: Iterable[str]
) -> EventEnvelope:
    """Returns the event; checks `webhook-signature`, of the Standard Webhooks convention.

    `body` is the exact bytes of the request. `secrets` has the webhook secret; while it is rotated, both.
    Raises WebhookVerificationError if no secret fits, or if its time differs by more than 5 minutes.
    """
    texts = {name.lower(): value for name, value in headers.items()}
    failure = WebhookVerificationError("no webhook secret is given")
    for secret in secrets:
        _refuse_empty(secret)
        try:
            return EventEnvelope.from_dict(Webhook(secret).verify(body, texts))
        except WebhookVerificationError as error:
            failure = error
    raise failure


def verify_service_signature(
    headers: Mapping[str, str], body: bytes, secrets: Iterable[str]
) -> EventEnvelope:
    """Returns the event; checks `x-service-signature`, which only the newest secret makes.

    It covers no time: prefer `verify_webhook`, or call both. Raises WebhookVerificationError.
    """
    texts = {name.lower(): value for name, value in headers.items()}
    given = texts.get("x-service-signature", "")
    for secret in secrets:
        _refuse_empty(secret)
        made = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        if hmac.compare_digest(made.encode(), given.encode()):
            return EventEnvelope.from_dict(json.loads(body))
    raise WebhookVerificationError("x-service-signature does not match")


def _refuse_empty(secret: str) -> None:
    """Every sender can sign with an empty key."""
    if secret in ("", "whsec_"):
        raise WebhookVerificationError("a webhook secret is empty")
