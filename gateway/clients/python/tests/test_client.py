"""Retries, pages, events and webhooks against a server that fails, is stopped and started on request."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

import httpx
from standardwebhooks.webhooks import WebhookVerificationError

from bmg_client import Gateway, GatewayError, ok, verify_service_signature, verify_webhook
from bmg_client.rest.api.broadcasts import list_broadcasts
from bmg_client.rest.api.costs import get_ledger
from bmg_client.rest.api.messages import send_text
from bmg_client.rest.api.onboarding_and_usage import list_clients
from bmg_client.rest.api.webhook_recovery import retry_all_events
from bmg_client.rest.models import SendResult, SendTextRequest

SENT = {"success": True, "message_id": "wamid.1", "messages": [], "contacts": [], "timeline_url": "/"}
HTML = httpx.Response(502, headers={"content-type": "text/html", "retry-after": "0"}, text="<html>")


def refusal(status: int, code: str, *, retryable: bool) -> httpx.Response:
    error = {
        "code": code,
        "message": code,
        "retryable": retryable,
        "upstream_subcode": None,
        "details": {"field": "to"},
        "doc_url": "",
        "request_id": "r",
    }
    return httpx.Response(
        status, headers={"retry-after": "0"}, json={"success": False, "error": error}
    )


class Answers:
    """A gateway that gives these answers in turn, the last one again and again; None breaks the connection."""

    def __init__(self, *answers: httpx.Response | None):
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if answer is None:
            raise httpx.ReadError("broken")
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def gateway(self, attempts_max: int = 3) -> Gateway:
        transport = httpx.MockTransport(self)
        return Gateway("https://gateway.test/v1", "k", attempts_max=attempts_max, transport=transport)

    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.requests]


def send(gateway: Gateway, **arguments: Any) -> SendResult:
    body = SendTextRequest(to="15550100777", text="x")
    return ok(send_text.sync(client=gateway, x_waba_id="1", body=body, **arguments))


class Retries(unittest.TestCase):
    def test_repeats_a_send_with_the_same_key_and_body(self) -> None:
        away = refusal(503, "SERVICE_UNAVAILABLE", retryable=True)
        answers = Answers(away, None, HTML, httpx.Response(200, json=SENT))
        self.assertEqual(send(answers.gateway(attempts_max=4)).message_id, "wamid.1")
        self.assertEqual(len(answers.keys()), 4)
        self.assertEqual(len(set(answers.keys())), 1)
        self.assertRegex(answers.keys()[0] or "", r"^[0-9a-f-]{36}$")
        self.assertEqual(len({request.content for request in answers.requests}), 1)
        self.assertEqual(answers.requests[0].headers["x-partner-key"], "k")

    def test_raises_an_error_that_is_not_retryable_at_once(self) -> None:
        answers = Answers(refusal(400, "INVALID_FIELD", retryable=False))
        with self.assertRaises(GatewayError) as raised:
            send(answers.gateway())
        self.assertEqual(raised.exception.code, "INVALID_FIELD")
        self.assertEqual(raised.exception.details, {"field": "to"})
        self.assertEqual(len(answers.requests), 1)

    def test_raises_the_last_answer_in_the_end(self) -> None:
        answers = Answers(refusal(429, "RATE_LIMIT_EXCEEDED", retryable=True))
        with self.assertRaises(GatewayError):
            send(answers.gateway())
        self.assertEqual(len(answers.requests), 3)

    def test_keeps_the_key_of_the_caller(self) -> None:
        answers = Answers(httpx.Response(200, json=SENT))
        send(answers.gateway(), idempotency_key="mine")
        self.assertEqual(answers.keys(), ["mine"])

    def test_repeats_no_change_without_a_key_after_a_broken_connection(self) -> None:
        answers = Answers(None)
        with self.assertRaises(httpx.ReadError):
            retry_all_events.sync(client=answers.gateway())
        self.assertEqual(answers.keys(), [None])

    def test_leaves_the_outcome_of_a_change_behind_a_proxy_unknown(self) -> None:
        answers = Answers(HTML)
        with self.assertRaises(GatewayError) as raised:
            retry_all_events.sync(client=answers.gateway())
        error = raised.exception
        self.assertEqual((error.code, error.status), ("UNEXPECTED_ANSWER", 502))
        self.assertEqual((error.retryable, error.details), (False, {"outcome": "unknown"}))
        self.assertEqual(len(answers.requests), 1)


def page(**fields: Any) -> httpx.Response:
    return httpx.Response(200, json={"success": True, **fields})


class Pages(unittest.TestCase):
    def test_by_offset_end_with_the_first_page_that_is_not_full(self) -> None:
        texts = {"name": "n", "template_name": "t", "template_language": "en", "status": "completed"}
        ids = {"waba_id": "1", "phone_number_id": "2"}
        counts = {"total": 1, "sent": 1, "delivered": 1, "failed": 0}
        times = dict.fromkeys(("created_at", "started_at", "completed_at", "scheduled_at"))
        row = {"id": 1, **texts, **ids, **counts, **times}
        fields = {"total": 3, "limit": 2}
        answers = Answers(
            page(broadcasts=[row, {**row, "id": 2}], offset=0, **fields),
            page(broadcasts=[{**row, "id": 3}], offset=2, **fields),
        )
        found = list(answers.gateway().list(list_broadcasts, limit=2))
        self.assertEqual([item.id for item in found], [1, 2, 3])
        self.assertEqual(
            [dict(request.url.params) for request in answers.requests],
            [{"limit": "2", "offset": "0"}, {"limit": "2", "offset": "2"}],
        )

    def test_of_the_ledger_continue_with_its_next(self) -> None:
        period = {"from": "2026-09-01", "to": "2026-09-30", "timezone": "UTC"}
        fields = {"period": period, "months": [], "entries": [], "limit": 1}
        answers = Answers(page(next="n", **fields), page(next=None, **fields))
        self.assertEqual(list(answers.gateway().list(get_ledger)), [])
        self.assertEqual(
            [request.url.params.get("after") for request in answers.requests], [None, "n"]
        )

    def test_refuse_an_endpoint_that_is_no_list(self) -> None:
        with self.assertRaisesRegex(ValueError, "send_text has no pages"):
            list(Answers().gateway().list(send_text))

    def test_raise_the_error_of_the_gateway(self) -> None:
        answers = Answers(refusal(400, "INVALID_FIELD", retryable=False))
        with self.assertRaisesRegex(GatewayError, "INVALID_FIELD"):
            list(answers.gateway().list(list_clients))


META = {"event_id": "evt_1", "api_version": "2", "changelog": "", "notices": []}
ENVELOPE = {
    "event": "message.received",
    "waba_id": "1",
    "phone_number_id": None,
    "timestamp": 1,
    "data": {"text": "谢谢"},
    "meta": META,
}
EVENTS = 10


def logged(seq: int) -> dict[str, Any]:
    delivery = {
        "status": "delivered",
        "attempts": 1,
        "last_http_status": 200,
        "last_duration_ms": 1,
        "delivered_at": None,
    }
    return {
        "seq": seq,
        "event_id": f"evt_{seq}",
        "event": "message.received",
        "logged_at": "2026-09-01T12:00:00.000Z",
        "envelope": ENVELOPE,
        "delivery": delivery,
    }


class Log:
    """A log of events numbered from 1, two a page; the given failures come first."""

    def __init__(self, *failures: Callable[[BaseHTTPRequestHandler], None]):
        pending = list(failures)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if pending:
                    return pending.pop(0)(self)
                after = int(httpx.URL(self.path).params.get("after", "0"))
                events = [logged(after + 1), logged(after + 2)]
                fields = {"has_more": True, "oldest": 1, "newest": EVENTS, "limit": 2}
                reply(self, 200, {"success": True, "events": events, "next": after + 2, **fields})

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.handler = Handler
        self.port = 0
        self.start()

    def start(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), self.handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def gateway(self) -> Gateway:
        return Gateway(f"http://127.0.0.1:{self.port}/v1", "k", attempts_max=1)


def reply(request: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    content = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("content-type", "application/json")
    request.send_header("content-length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


def refuse(status: int, code: str) -> Callable[[BaseHTTPRequestHandler], None]:
    body = json.loads(refusal(status, code, retryable=False).content)
    return lambda request: reply(request, status, body)


def cut(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


class Events(unittest.TestCase):
    def test_continue_after_broken_connections_and_server_errors(self) -> None:
        log = Log(cut, refuse(500, "INTERNAL_ERROR"), refuse(429, "RATE_LIMIT_EXCEEDED"))
        self.addCleanup(log.stop)
        reasons: list[Exception] = []
        seen = []
        for event in log.gateway().events(on_interruption=lambda reason, _: reasons.append(reason)):
            seen.append(event.seq)
            if event.seq == EVENTS:
                break
        self.assertEqual(seen, list(range(1, EVENTS + 1)))
        self.assertEqual(len(reasons), 3)

    def test_outlive_a_gateway_that_is_gone_for_seconds(self) -> None:
        log = Log()
        seen = []
        for event in log.gateway().events():
            seen.append(event.seq)
            if event.seq == 4:
                log.stop()
                threading.Timer(2, log.start).start()
            if event.seq == EVENTS:
                break
        log.stop()
        self.assertEqual(seen, list(range(1, EVENTS + 1)))

    def test_raise_what_does_not_pass_by_itself(self) -> None:
        log = Log(refuse(401, "INVALID_PARTNER_KEY"))
        self.addCleanup(log.stop)
        with self.assertRaisesRegex(GatewayError, "INVALID_PARTNER_KEY"):
            next(log.gateway().events())

    def test_end_when_they_are_stopped_also_without_a_gateway(self) -> None:
        log = Log()
        log.stop()
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        self.assertEqual(list(log.gateway().events(stop=stop)), [])


class Webhooks(unittest.TestCase):
    secret, old_secret, stranger = (
        f"whsec_{base64.b64encode(os.urandom(32)).decode()}" for _ in range(3)
    )
    body = json.dumps(ENVELOPE, ensure_ascii=False).encode()

    def headers(self, secret: str, age_s: int = 0) -> dict[str, str]:
        timestamp = str(int(time.time()) - age_s)
        key = base64.b64decode(secret.removeprefix("whsec_"))
        text = f"evt_1.{timestamp}.".encode() + self.body
        signature = base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()
        service = hmac.digest(secret.encode(), self.body, hashlib.sha256).hex()
        return {
            "webhook-id": "evt_1",
            "Webhook-Timestamp": timestamp,
            "webhook-signature": f"v1,{signature}",
            "X-Service-Signature": f"sha256={service}",
        }

    def test_return_the_event_that_one_of_the_secrets_has_signed(self) -> None:
        secrets = [self.secret, self.old_secret]
        for secret in secrets:
            event = verify_webhook(self.headers(secret), self.body, secrets)
            self.assertEqual(event.event, "message.received")
            self.assertEqual(event.data["text"], "谢谢")
            signed = verify_service_signature(self.headers(secret), self.body, secrets)
            self.assertEqual(signed.event, "message.received")

    def test_refuse_another_secret_changed_bytes_and_an_old_delivery(self) -> None:
        refused: list[tuple[dict[str, str], bytes, list[str]]] = [
            (self.headers(self.stranger), self.body, [self.secret]),
            (self.headers(self.secret), self.body + b" ", [self.secret]),
            (self.headers(self.secret), self.body, []),
            ({}, self.body, [self.secret]),
        ]
        for headers, body, secrets in refused:
            for verify in (verify_webhook, verify_service_signature):
                with self.assertRaises(WebhookVerificationError):
                    verify(headers, body, secrets)
        for empty in ("", "whsec_"):
            for verify in (verify_webhook, verify_service_signature):
                with self.assertRaisesRegex(WebhookVerificationError, "a webhook secret is empty"):
                    verify(self.headers(empty), self.body, [empty])
        with self.assertRaises(WebhookVerificationError):
            verify_webhook(self.headers(self.secret, 600), self.body, [self.secret])


if __name__ == "__main__":
    unittest.main()
