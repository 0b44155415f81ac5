// The canary of the operator, with the emulator as its upstream: on the whole path of a partner,
// from two replicas of webhooks, whose outcomes are metrics.
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import { createLogger, metrics } from '@bmg/common/telemetry';
import { freePort } from '../../deploy/local/src/ports';
import { settings } from '../../services/webhooks/src/config';
import { createWebhooks } from '../../services/webhooks/src/service';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { useMesh, usePartner } from './use-mesh';

const TO = '15550100791';
const EVERY_S = 2;

const mesh = useMesh();
const partner = usePartner(mesh);
let ports: number[];
let running: Running[] = [];
let started: number;

beforeAll(async () => {
  ports = [await freePort(), await freePort()];
  const { partner_id } = partner;
  // Events may reach either replica: here they reach the second one, also when the first one sends.
  const webhook_url = `http://127.0.0.1:${ports[1]}/webhooks/canary`;
  await mesh.operator.updatePartner({ partner_id, webhook_url }, mesh.call());
  started = performance.now();
  running = await Promise.all(ports.map(startReplica));
});
afterAll(() => Promise.all(running.map((one) => one.stop())));

async function startReplica(ingress_port: number): Promise<Running> {
  const env = {
    ...mesh.env,
    INGRESS_PORT: String(ingress_port),
    GRPC_PORT: String(await freePort()),
    CANARY_URL: mesh.base_url,
    CANARY_PARTNER_KEY: partner.partner_key,
    CANARY_WEBHOOK_SECRET: partner.webhook_secret,
    CANARY_WABA_ID: ONE.waba_id,
    CANARY_TO: TO,
    CANARY_EVERY_S: String(EVERY_S),
    CANARY_TIMEOUT_S: '5',
  };
  const service = createWebhooks(loadConfig(settings, env));
  return startService(service, createLogger('webhooks'));
}

const runs = async (outcome: string): Promise<number> => {
  const { values } = await metrics.canary_runs.get();
  return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
};
const sent = async (): Promise<number> =>
  (await partner.call('GET', `/messages?recipient=${TO}`)).body.messages.length;

test('sends one message a turn from all replicas together, and times its event', async () => {
  await eventually(async () => (await runs('ok')) >= 3);
  const messages = await sent();
  const turns = Math.floor((performance.now() - started) / (EVERY_S * 1_000 - 500)) + 2;
  expect(messages).toBeLessThanOrEqual(turns);
  const { body } = await partner.call('GET', `/messages?recipient=${TO}&limit=1`);
  expect(body.messages[0]).toMatchObject({ kind: 'template', contact: TO });
});

test('counts a message that the API refuses', async () => {
  const before = await runs('refused');
  await mesh.emulator.fault({
    match: { method: 'POST', path: `/${ONE.phone_number_id}/messages` },
    times: 1,
    error: { code: 131_000 },
  });
  await eventually(async () => (await runs('refused')) > before);
});

test('counts a message whose event does not arrive in time', async () => {
  const before = await runs('no_event');
  await mesh.emulator.behaviour({ swallow: 1 });
  await eventually(async () => (await runs('no_event')) > before);
  await mesh.emulator.behaviour({ swallow: 0 });
  const ok = await runs('ok');
  await eventually(async () => (await runs('ok')) > ok);
});

test('takes events with only the partner’s signature', async () => {
  const post = (signature: string) =>
    fetch(`http://127.0.0.1:${ports[0]}/webhooks/canary`, {
      method: 'POST',
      headers: { 'x-service-signature': signature },
      body: '{"event":"message.sent","data":{"message_id":"wamid.forged","status":"sent"}}',
    });
  expect((await post(`sha256=${'0'.repeat(64)}`)).status).toBe(401);
  // A process without a canary has no such path.
  const without = await fetch(new URL('/webhooks/canary', mesh.ingress_url), { method: 'POST' });
  expect(without.status).toBe(404);
});
