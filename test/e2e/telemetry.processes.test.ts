// Telemetry: one trace from a partner's request to the upstream, one from an upstream webhook to
// the partner's receiver, and no secrets in logs, spans, Kafka headers or databases.
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../testkit/otlp';
import { startProcessMesh } from '../harness/process-mesh';
import { startKafkaServer } from '../destinations/kafka-server';
import { WRONG, type DestinationServer } from '../destinations/server';
import { headerText, topicMessages } from '../testkit/topic-messages';
import { storedTexts } from './stored';
import { useProcesses, useReceivingPartner } from './use-processes';

let otlp: OtlpReceiver;
let queue: DestinationServer;
const mesh = useProcesses({}, async () => {
  otlp = await startOtlpReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_BSP_SCHEDULE_DELAY: '200' };
  return startProcessMesh({ env });
});
const partner = useReceivingPartner(mesh);

const TEXT = 'a message that only its reader should see';
/** The caller's own trace, which requests sampling. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** The trace of the same request in the mesh. */
let own_trace: string;

beforeAll(async () => {
  queue = await startKafkaServer();
});
afterAll(() => Promise.all([queue?.stop(), otlp?.close()]));

/** Expects every span except the first to have a parent in the same trace. */
function expectConnected(spans: ReceivedSpan[]): void {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  const roots = spans.filter(({ parent_id }) => !ids.has(parent_id));
  expect(roots.map(({ parent_id }) => parent_id)).toEqual(['']);
}

test('traces a partner’s request through gRPC to the upstream', async () => {
  const answer = await partner.call(
    'POST',
    '/messages/send',
    { to: '15550100777', text: TEXT },
    { 'x-waba-id': ONE.waba_id, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  );
  expect(answer.status).toBe(200);
  expect(answer.headers.get('traceparent')).toContain(TRACE);
  // A trace of its own, linked to the caller's, whose sampling flag must not count.
  const root = await eventually(() => otlp.spans.find(({ links }) => links.includes(TRACE)));
  expect([root.name, root.parent_id]).toEqual(['POST /messages/send', '']);
  own_trace = root.trace_id;
  // Processes export spans in batches, so a child may arrive before its parent.
  const spans = await eventually(() => {
    const found = otlp.spans.filter(({ trace_id }) => trace_id === own_trace);
    const names = found.map(({ name }) => name);
    expect(names).toContain('POST /messages/send');
    expect(names.some((name) => name.startsWith('POST /{phone_number_id}/messages'))).toBe(true);
    expectConnected(found);
    return found;
  });
  expect(new Set(spans.map(({ service }) => service))).toEqual(
    new Set([
      'gateway',
      'messaging',
      ...spans.filter((s) => s.service === 'onboarding').map(() => 'onboarding'),
    ]),
  );
  const [request] = await mesh.emulator.requests({ path: '/messages', limit: 1 });
  expect(request?.headers['traceparent'] ?? own_trace).toContain(own_trace);
});

test('traces an upstream webhook through Kafka to the partner’s receiver', async () => {
  await mesh.emulator.inbound({
    phone_number_id: ONE.phone_number_id,
    from: '15550100777',
    text: TEXT,
  });
  const arrival = await eventually(() => partner.receiver.of('message.received')[0]);
  const [, trace_id, parent] = String(arrival.headers['traceparent']).split('-');
  const spans = await eventually(() => {
    const found = otlp.spans.filter((span) => span.trace_id === trace_id);
    return found.some(({ span_id }) => span_id === parent) && found.length >= 3 ? found : undefined;
  });
  expect(spans.map(({ service, name }) => `${service}: ${name}`).sort()).toEqual([
    'fanout: normalise',
    'webhooks: POST /webhooks/upstream',
    'webhooks: deliver message.received',
  ]);
  expectConnected(spans);
});

/**
 * Sends a message whose webhooks the upstream posts once: of one that it repeats, because the
 * answer was late, a status and its event may name different traces. Returns the message's ID and
 * its whole timeline.
 */
async function sendWithoutRepeats() {
  const body = { to: '15550100777', text: TEXT };
  for (;;) {
    const { failed } = await mesh.emulator.webhooks();
    const sent = await partner.call('POST', '/messages/send', body, { 'x-waba-id': ONE.waba_id });
    const message_id = sent.body.message_id as string;
    const path = `/messages/${encodeURIComponent(message_id)}/timeline`;
    const entries = await eventually(async () => {
      const timeline = (await partner.call('GET', path)).body.entries as any[];
      const count = (type: string): number => timeline.filter((one) => one.type === type).length;
      return count('attempt') >= 3 && count('status') >= 3 && timeline;
    });
    if ((await mesh.emulator.webhooks()).failed === failed) return { message_id, entries };
  }
}

test('names the trace of each step in the timeline of a message', async () => {
  const { message_id, entries } = await sendWithoutRepeats();
  const traces = (type: string): string[] =>
    entries.filter((one) => one.type === type).map(({ trace_id }) => trace_id);
  for (const { trace_id } of entries) expect(trace_id).toMatch(/^[0-9a-f]{32}$/);
  expect(traces('upstream')).toEqual(traces('accepted'));
  // A status, its event and the delivery come from one webhook.
  expect(traces('event').sort()).toEqual(traces('status').sort());
  const arrived = partner.receiver.arrivals
    .filter((one) => one.body.data['message_id'] === message_id)
    .map(({ headers }) => String(headers['traceparent']).split('-')[1]);
  expect(new Set(arrived)).toEqual(new Set(traces('attempt')));
  // From the webhook of a status, a link leads to the trace of the send.
  const [send_trace] = traces('accepted');
  const linked = await eventually(() => {
    const found = otlp.spans.filter(({ links }) => links.includes(send_trace as string));
    const statuses = found.filter(({ name }) => name === 'message status');
    return statuses.length === traces('status').length && statuses;
  });
  expect(linked.map(({ trace_id }) => trace_id).sort()).toEqual(traces('status').sort());
});

test('writes log lines as JSON with the trace ID', async () => {
  await eventually(() => mesh.logs()['gateway']?.includes(`"caller_trace_id":"${TRACE}"`));
  // Log lines are written in batches: the last one may be half written.
  await eventually(() => {
    const lines = (mesh.logs()['messaging'] ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { trace_id?: string });
    return lines.some(({ trace_id }) => trace_id === own_trace);
  });
});

test('an event goes to a queue of the partner, and its trace shows the attempt', async () => {
  const create = (change: object) =>
    partner.call('POST', '/webhook-endpoints', {
      destination: { type: queue.type, ...queue.settings, ...change },
    });
  expect((await create({ password: WRONG })).status).toBe(400);
  expect((await create({})).status).toBe(201);
  await mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, text: TEXT });
  // The reader of the queue may still add the event of the check.
  const stored = await eventually(() =>
    queue.stored.find(({ raw }) => JSON.parse(raw).event === 'message.received'),
  );
  await eventually(() => {
    const attempts = otlp.spans.filter(({ name }) => name === 'deliver message.received');
    const traces = new Map<string, number>();
    for (const { trace_id } of attempts) traces.set(trace_id, (traces.get(trace_id) ?? 0) + 1);
    return [...traces.values()].includes(2);
  });
  await eventually(() =>
    partner.receiver.arrivals.some(({ headers }) => headers['webhook-id'] === stored.event_id),
  );
});

test('writes no key, token, secret or message text to logs, spans or Kafka headers', async () => {
  const secrets = [
    partner.partner_key,
    partner.webhook_secret,
    ONE.access_token,
    TEXT,
    mesh.settings['KEY_PEPPER'] as string,
    queue.credential,
    WRONG,
  ];
  const { emulator: _emulator, kafka: _kafka, mongo: _mongo, redis: _redis, ...logs } = mesh.logs();
  const { KAFKA_BROKERS } = process.env;
  const messages = await topicMessages({ ...mesh.settings, KAFKA_BROKERS });
  expect(messages.length).toBeGreaterThan(3);
  const written: Record<string, string> = {
    ...logs,
    spans: Buffer.concat(otlp.raw).toString('latin1'),
    'kafka headers': messages.map((one) => `${String(one.key)} ${headerText(one)}`).join('\n'),
  };
  for (const [where, text] of Object.entries(written)) {
    for (const secret of secrets) {
      if (text.includes(secret))
        throw new Error(`a secret (${secret.slice(0, 5)}…) is in ${where}`);
    }
  }
  expect(Object.keys(logs).length).toBeGreaterThanOrEqual(8);
});

test('stores no secret in plain text', async () => {
  const { MONGO_URL } = process.env;
  const stored = await storedTexts({ env: { ...mesh.settings, MONGO_URL } });
  expect(stored.length).toBeGreaterThan(2);
  const secrets = [partner.partner_key, partner.webhook_secret, ONE.access_token, queue.credential];
  for (const secret of secrets) {
    expect(stored.filter((text) => text.includes(secret))).toEqual([]);
  }
});
