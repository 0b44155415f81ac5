# The ten calls with the code of openapi-python-client, and an error that is read.
import json
import os
from typing import Any

from made import Client
from made.api.broadcasts import create_broadcast
from made.api.costs import get_ledger
from made.api.event_log import list_events
from made.api.messages import check_message, get_timeline, send_template, send_text
from made.api.onboarding_and_usage import list_clients, register_client
from made.models import (
    BroadcastContact,
    CheckMessageRequest,
    CheckMessageRequestKind,
    CreateBroadcastRequest,
    Error,
    QuotedMessage,
    RegisterClientRequest,
    SendTemplateRequest,
    SendTemplateRequestTemplate,
    SendTextRequest,
)

waba, to = os.environ["WABA_ID"], os.environ["CONTACT"]
client = Client(
    base_url=os.environ["BASE_URL"], headers={"x-partner-key": os.environ["PARTNER_KEY"]}
)


def ok(answer):
    assert answer is not None and not isinstance(answer, Error), answer
    return answer


registered = ok(
    register_client.sync(
        client=client,
        body=RegisterClientRequest(
            waba_id=waba,
            phone_number_id=os.environ["PHONE_NUMBER_ID"],
            access_token=os.environ["ACCESS_TOKEN"],
        ),
    )
)
listed = ok(list_clients.sync(client=client, limit=10))
number: dict[str, Any] = {"client": client, "x_waba_id": waba}
text = ok(send_text.sync(**number, body=SendTextRequest(to=to, text="Hello")))
context = QuotedMessage(message_id=text.message_id)
quote = ok(send_text.sync(**number, body=SendTextRequest(to=to, text="Again", context=context)))
hello = SendTemplateRequestTemplate(name="hello_world", language="en_US")
template = ok(send_template.sync(**number, body=SendTemplateRequest(to=to, template=hello)))
kind = CheckMessageRequestKind.TEMPLATE
question = CheckMessageRequest(kind=kind, to=to, template=hello.to_dict())
check = ok(check_message.sync(**number, body=question))
events = ok(list_events.sync(client=client, event="message.sent", wait=20))
timeline = ok(get_timeline.sync(text.message_id, client=client))
ledger = ok(get_ledger.sync(client=client, limit=5))
body = CreateBroadcastRequest(
    name="Autumn",
    template_name="hello_world",
    template_language="en_US",
    contacts=[to, BroadcastContact(recipient="15550100778")],
)
broadcast = ok(create_broadcast.sync(**number, body=body))
refused = send_text.sync(**number, body=SendTextRequest(text="without a recipient"))
assert isinstance(refused, Error) and refused.error.code == "MISSING_FIELDS", refused
print(
    json.dumps(
        {
            "register": registered.client.waba_id,
            "list": listed.clients[0].waba_id,
            "text": text.message_id,
            "quote": quote.message_id,
            "template": template.message_id,
            "check": check.deliverable.value,
            "events": events.events[0].envelope.data["message_id"],
            "timeline": timeline.message.kind,
            "ledger": ledger.limit,
            "broadcast": broadcast.total,
        }
    )
)
