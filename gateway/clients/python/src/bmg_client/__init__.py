"""A client of the Business Messaging Gateway.

`bmg_client.rest` is generated from the OpenAPI document: a module for each endpoint and a class for each
schema. This package adds retries, pages, the endless sequence of events, and the verification of webhooks.
"""

from .errors import GatewayError
from .gateway import Gateway, ok
from .webhook import verify_service_signature, verify_webhook

__all__ = ["Gateway", "GatewayError", "ok", "verify_service_signature", "verify_webhook"]
