"""Drives the client for the conformance tests: a command in a line of JSON, its result in another."""

import json
import sys
import threading

from bmg_client import Gateway, GatewayError, ok, verify_service_signature, verify_webhook
from bmg_client.rest.api.audit_log import list_audit
from bmg_client.rest.api.broadcasts import list_broadcasts
from bmg_client.rest.api.costs import get_ledger
from bmg_client.rest.api.media_and_contacts import download_media
from bmg_client.rest.api.messages import list_messages, send_text
from bmg_client.rest.api.onboarding_and_usage import list_clients
from bmg_client.rest.api.webhook_recovery import retry_all_events
from bmg_client.rest.models import SendTextRequest

LISTS = {
    "broadcasts": (list_broadcasts, "id"),
    "messages": (list_messages, "message_id"),
    "ledger": (get_ledger, "message_id"),
    "audit": (list_audit, "id"),
    "clients": (list_clients, "waba_id"),
    "sends": (send_text, "message_id"),
}


def send(gateway, waba_id="1", text="x", key=None):
    body = SendTextRequest(to="15550100777", text=text)
    keys = {} if key is None else {"idempotency_key": key}
    return ok(send_text.sync(client=gateway, x_waba_id=waba_id, body=body, **keys)).message_id


def retry_all(gateway):
    return ok(retry_all_events.sync(client=gateway)).to_dict()


def download(gateway):
    return ok(download_media.sync("1", client=gateway, x_waba_id="1")).payload.read().decode()


def read_list(gateway, list, times=1, **arguments):
    endpoint, identifier = LISTS[list]
    items = [item for _ in range(times) for item in gateway.list(endpoint, **arguments)]
    return [getattr(item, identifier) for item in items]


def events(gateway, after=None, of=None, count=None, limit_s=60):
    found = {"sequence": [], "message_ids": [], "interruptions": 0}
    stop = threading.Event()
    timer = threading.Timer(limit_s, stop.set)
    timer.start()
    seen = 0

    def interrupted(_reason, _wait_s):
        found["interruptions"] += 1

    try:
        for event in gateway.events(after=after, stop=stop, on_interruption=interrupted):
            found["sequence"].append(event.seq)
            if event.envelope.event == of:
                found["message_ids"].append(event.envelope.data["message_id"])
            seen += of is None or event.envelope.event == of
            if seen == count:
                stop.set()
    finally:
        timer.cancel()
    return found


def verified(verify):
    return lambda _gateway, headers, body, secrets: verify(headers, body.encode(), secrets).to_dict()


CALLS = {
    "send": send,
    "retry_all": retry_all,
    "download": download,
    "list": read_list,
    "events": events,
    "verify_webhook": verified(verify_webhook),
    "verify_service_signature": verified(verify_service_signature),
}


def run(call, base_url="http://127.0.0.1:9/v1", partner_key="k", attempts=1, **arguments):
    try:
        gateway = Gateway(base_url, partner_key, attempts_max=attempts)
        return {"value": CALLS[call](gateway, **arguments)}
    except GatewayError as error:
        names = ("code", "status", "retryable", "details", "message")
        return {"failure": {name: getattr(error, name) for name in names}}
    except Exception as error:
        return {"failure": {"message": str(error)}}


for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
