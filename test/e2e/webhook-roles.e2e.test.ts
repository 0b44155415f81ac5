// The roles of webhooks: one process takes the upstream's webhooks in, another delivers the events.
import { connect } from 'node:net';
import { loadConfig } from '@bmg/common/config';
import { startService, type Running } from '@bmg/common/lifecycle';
import { createLogger } from '@bmg/common/telemetry';
import { freePort } from '@bmg/local';
import { settings } from '@bmg/webhooks/config';
import { createWebhooks } from '@bmg/webhooks/service';
import { ONE, startMesh } from '../harness/mesh';
import { eventually } from '../testkit/eventually';
import { useMesh } from './use-mesh';

const mesh = useMesh(() => startMesh({ WEBHOOKS_ROLE: 'delivery' }));
let ingress: Running | undefined;
let ingress_grpc_port: number;

async function startIngress(): Promise<void> {
  ingress_grpc_port = await freePort();
  const env = { ...mesh.env, WEBHOOKS_ROLE: 'ingress', GRPC_PORT: String(ingress_grpc_port) };
  const service = createWebhooks(loadConfig(settings, env));
  ingress = await startService(service, createLogger('webhooks'));
  await eventually(() => ingress?.ready());
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

afterAll(() => ingress?.stop());

test('each process listens only on the ports of its role', async () => {
  expect(await listens(Number(mesh.env['INGRESS_PORT']))).toBe(false);
  await startIngress();
  expect(await listens(Number(mesh.env['INGRESS_PORT']))).toBe(true);
  expect(await listens(ingress_grpc_port)).toBe(false);
  const [, grpc_port] = (mesh.env['WEBHOOKS_ADDR'] as string).split(':');
  expect(await listens(Number(grpc_port))).toBe(true);
});

test('one delivers what the other has taken in, even after that one has stopped', async () => {
  const partner = await mesh.createPartner();
  await partner.register(ONE);
  const inbound = (text: string) =>
    mesh.emulator.inbound({ phone_number_id: ONE.phone_number_id, from: '15550100777', text });
  await inbound('first');
  await eventually(() => partner.receiver.of('message.received').length === 1);
  partner.receiver.behave((_arrival, response) => void response.writeHead(503).end());
  await inbound('second');
  const failed = await eventually(async () => {
    const { body } = await partner.call('GET', '/webhooks/failed');
    const second = ({ payload }: any): boolean => payload.data.text === 'second';
    return body.events.find(second)?.event_id as string | undefined;
  });
  await ingress?.stop();
  ingress = undefined;
  partner.receiver.behave(undefined);
  expect((await partner.call('POST', `/webhooks/retry/${failed}`)).status).toBe(200);
  const texts = partner.receiver.of('message.received').map(({ body }) => body.data['text']);
  expect(texts).toEqual(expect.arrayContaining(['first', 'second']));
});
