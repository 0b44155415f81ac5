// Drives the client for the conformance tests: a command in a line of JSON, its result in another.
import { createInterface } from 'node:readline';
import { createClient, verifyServiceSignature, verifyWebhook } from '@bmg/client';

const LISTS = {
  broadcasts: ['/broadcasts', 'id'],
  messages: ['/messages', 'message_id'],
  ledger: ['/usage/ledger', 'message_id'],
  audit: ['/audit', 'id'],
  clients: ['/clients', 'waba_id'],
};

/** The data of an answer; an error answer is thrown as the client's sequences throw it. */
async function data(answer) {
  const { data: found, error, response } = await answer;
  if (error)
    throw Object.assign(new Error(error.error.message), error.error, { status: response.status });
  return found;
}

const CALLS = {
  async send(client, { waba_id = '1', text = 'x', key }) {
    const header = { 'x-waba-id': waba_id, ...(key && { 'Idempotency-Key': key }) };
    const body = { to: '15550100777', text };
    return (await data(client.POST('/messages/send', { params: { header }, body }))).message_id;
  },
  retry_all: (client) => data(client.POST('/webhooks/retry-all')),
  async download(client) {
    const params = { path: { media_id: '1' }, header: { 'x-waba-id': '1' } };
    return data(client.GET('/media/{media_id}', { params, parseAs: 'text' }));
  },
  async list(client, { list, limit, times = 1, limit_s }) {
    const [path, id] = LISTS[list];
    const found = [];
    const signal = limit_s === undefined ? undefined : AbortSignal.timeout(limit_s * 1_000);
    for (let time = 0; time < times; time += 1) {
      for await (const item of client.list(path, { params: { query: { limit } }, signal })) {
        found.push(item[id]);
      }
    }
    return found;
  },
  async events(client, { after, of, count, limit_s = 60 }) {
    const found = { sequence: [], message_ids: [], interruptions: 0 };
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), limit_s * 1_000);
    const onInterruption = () => (found.interruptions += 1);
    let seen = 0;
    for await (const { seq, envelope } of client.events({
      after,
      signal: stop.signal,
      onInterruption,
    })) {
      found.sequence.push(seq);
      if (envelope.data.message_id && envelope.event === of)
        found.message_ids.push(envelope.data.message_id);
      if (of === undefined || envelope.event === of) seen += 1;
      if (seen === count) stop.abort();
    }
    clearTimeout(timer);
    return found;
  },
  verify_webhook: (_client, request) => verifyWebhook(request),
  verify_service_signature: (_client, request) => verifyServiceSignature(request),
};

async function run({
  call,
  base_url = 'http://127.0.0.1:9/v1',
  partner_key = 'k',
  attempts = 1,
  ...rest
}) {
  try {
    const client = createClient({ base_url, partner_key, attempts_max: attempts });
    return { value: await CALLS[call](client, rest) };
  } catch (error) {
    const { code, status, retryable, details, message } = error;
    // What broke a connection has a code of its own, and no `retryable`.
    return {
      failure:
        retryable === undefined ? { message } : { code, status, retryable, details, message },
    };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(line))));
}
