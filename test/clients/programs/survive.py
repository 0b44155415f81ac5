# Sends texts and reads the event log while the gateway is killed and started: prints a line for
# each send, and in the end what it sent and saw, as JSON.
import json
import os
import threading
import time

from bmg_client import Gateway, ok
from bmg_client.rest.api.messages import send_text
from bmg_client.rest.models import SendTextRequest

COUNT = int(os.environ["COUNT"])
LIMIT_S = float(os.environ["LIMIT_S"])
# Enough attempts for an outage of minutes.
gateway = Gateway(os.environ["BASE_URL"], os.environ["PARTNER_KEY"], attempts_max=12)
# Single requests are not retried: the sequence itself has to outlive the outage.
reader = Gateway(os.environ["BASE_URL"], os.environ["PARTNER_KEY"], attempts_max=1)
sequence: list[int] = []
reported: set[str] = set()
interruptions = 0
stop = threading.Event()


def interrupted(reason: Exception, wait_s: float) -> None:
    global interruptions
    interruptions += 1


def read() -> None:
    for event in reader.events(after=0, stop=stop, on_interruption=interrupted):
        sequence.append(event.seq)
        if event.envelope.event == "message.sent":
            reported.add(event.envelope.data["message_id"])


threading.Thread(target=read, daemon=True).start()
sent: list[str] = []
for number in range(COUNT):
    body = SendTextRequest(to="15550100777", text=f"Number {number}")
    answer = ok(send_text.sync(client=gateway, x_waba_id=os.environ["WABA_ID"], body=body))
    sent.append(answer.message_id)
    print("sent", number, flush=True)
    time.sleep(0.1)
deadline = time.monotonic() + LIMIT_S
while not reported.issuperset(sent) and time.monotonic() < deadline:
    time.sleep(0.2)
stop.set()
result = {"sent": sent, "reported": sorted(reported), "sequence": sequence}
print(json.dumps({**result, "interruptions": interruptions}), flush=True)
