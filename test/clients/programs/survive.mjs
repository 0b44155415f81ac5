// Sends texts and reads the event log while the gateway is killed and started: prints a line for
// each send, and in the end what it sent and saw, as JSON.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@bmg/client';

const { BASE_URL, PARTNER_KEY, WABA_ID, COUNT, LIMIT_S } = process.env;
const options = { base_url: BASE_URL, partner_key: PARTNER_KEY };
// Enough attempts for an outage of minutes.
const gateway = createClient({ ...options, attempts_max: 12 });
// Single requests are not retried: the sequence itself has to outlive the outage.
const reader = createClient({ ...options, attempts_max: 1 });
const sequence = [];
const reported = new Set();
let interruptions = 0;
const stop = new AbortController();

async function read() {
  const onInterruption = () => (interruptions += 1);
  for await (const { seq, envelope } of reader.events({
    after: 0,
    signal: stop.signal,
    onInterruption,
  })) {
    sequence.push(seq);
    if (envelope.event === 'message.sent') reported.add(envelope.data.message_id);
  }
}

const reading = read();
const sent = [];
for (let number = 0; number < Number(COUNT); number += 1) {
  const { data, error } = await gateway.POST('/messages/send', {
    params: { header: { 'x-waba-id': WABA_ID } },
    body: { to: '15550100777', text: `Number ${number}` },
  });
  if (error) throw new Error(error.error.message);
  sent.push(data.message_id);
  console.log('sent', number);
  await sleep(100);
}
const deadline = performance.now() + Number(LIMIT_S) * 1_000;
while (!sent.every((id) => reported.has(id)) && performance.now() < deadline) await sleep(200);
stop.abort();
await reading;
console.log(JSON.stringify({ sent, reported: [...reported].sort(), sequence, interruptions }));
