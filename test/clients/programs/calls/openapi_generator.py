# The ten calls with the code of openapi-generator (python).
import json
import os

from openapi_client import (
    ApiClient,
    BroadcastContact,
    BroadcastsApi,
    CheckMessageRequest,
    Configuration,
    CostsApi,
    CreateBroadcastRequest,
    CreateBroadcastRequestContactsInner,
    EventLogApi,
    MessagesApi,
    OnboardingAndUsageApi,
    QuotedMessage,
    RegisterClientRequest,
    SendTemplateRequest,
    SendTemplateRequestTemplate,
    SendTextRequest,
)

waba, to = os.environ["WABA_ID"], os.environ["CONTACT"]
key = {"PartnerKey": os.environ["PARTNER_KEY"]}
client = ApiClient(Configuration(host=os.environ["BASE_URL"], api_key=key))
onboarding, messages = OnboardingAndUsageApi(client), MessagesApi(client)

registered = onboarding.register_client(
    RegisterClientRequest(
        waba_id=waba,
        phone_number_id=os.environ["PHONE_NUMBER_ID"],
        access_token=os.environ["ACCESS_TOKEN"],
    )
)
listed = onboarding.list_clients(limit=10)
text = messages.send_text(waba, SendTextRequest(to=to, text="Hello"))
context = QuotedMessage(message_id=text.message_id)
quote = messages.send_text(waba, SendTextRequest(to=to, text="Again", context=context))
hello = SendTemplateRequestTemplate(name="hello_world", language="en_US")
template = messages.send_template(waba, SendTemplateRequest(to=to, template=hello))
check = messages.check_message(
    waba, CheckMessageRequest(kind="template", to=to, template=hello.to_dict())
)
events = EventLogApi(client).list_events(event="message.sent", wait=20)
timeline = messages.get_timeline(text.message_id)
ledger = CostsApi(client).get_ledger(limit=5)
contacts = [
    CreateBroadcastRequestContactsInner(to),
    CreateBroadcastRequestContactsInner(BroadcastContact(recipient="15550100778")),
]
broadcast = BroadcastsApi(client).create_broadcast(
    waba,
    CreateBroadcastRequest(
        name="Autumn", template_name="hello_world", template_language="en_US", contacts=contacts
    ),
)
print(
    json.dumps(
        {
            "register": registered.client.waba_id,
            "list": listed.clients[0].waba_id,
            "text": text.message_id,
            "quote": quote.message_id,
            "template": template.message_id,
            "check": check.deliverable,
            "events": events.events[0].envelope.data["message_id"],
            "timeline": timeline.message.kind,
            "ledger": ledger.limit,
            "broadcast": broadcast.total,
        }
    )
)
