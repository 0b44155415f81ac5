// Deliberately slow clients: their connections are closed in bounded time, and other clients are
// not affected.
import { connect, type Socket } from 'node:net';
import { CONNECT_TOKEN_PREFIX, createKey } from '@bmg/common/keys';
import { metrics } from '@bmg/common/telemetry';
import { eventually } from '../testkit/eventually';
import { ONE, startMesh } from '../harness/mesh';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { useMesh, usePartner } from './use-mesh';

const DRIP_EVERY_MS = 500;
/** The ingress reads only bodies that may be signed. */
const SIGNED = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`;
/** Timeouts are 10 s for headers and 30 s for a request; a loaded machine enforces them late. */
const CLOSED_LIMIT_MS = 60_000;

const sockets: Socket[] = [];
// Before the mesh stops, which waits for its connections.
afterAll(() => {
  for (const socket of sockets) socket.destroy();
});
const mesh = useMesh(() => startMesh());
const partner = usePartner(mesh);

interface Slow {
  said: string;
  is_closed: boolean;
}

/** Starts a request, sends the rest in drops, and never closes its side. */
function trickle(url: string, beginning: string, drop: string): Slow {
  const { hostname, port } = new URL(url);
  const state: Slow = { said: '', is_closed: false };
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket);
  const drip = setInterval(() => socket.writable && socket.write(drop), DRIP_EVERY_MS);
  const over = (): void => {
    clearInterval(drip);
    state.is_closed = true;
  };
  socket.on('data', (chunk) => (state.said += String(chunk)));
  socket.on('end', over);
  socket.on('error', over);
  socket.on('close', over);
  socket.write(beginning);
  return state;
}

test('closes connections with trickling headers or bodies at the gateway and the ingress', async () => {
  const headers = 'POST /v1/messages/send HTTP/1.1\r\nHost: x\r\n';
  const hook = `POST /webhooks/upstream HTTP/1.1\r\nHost: x\r\n${SIGNED}Content-Length: 100000\r\n\r\n{`;
  const body =
    `POST /v1/messages/send HTTP/1.1\r\nHost: x\r\nx-partner-key: ${partner.partner_key}\r\n` +
    `x-waba-id: ${ONE.waba_id}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`;
  const slow = {
    'headers at the edge': trickle(mesh.base_url, headers, 'x-a: b\r\n'),
    'body at the edge': trickle(mesh.base_url, body, ' '),
    'headers at the ingress': trickle(mesh.ingress_url, headers, 'x-a: b\r\n'),
    'body at the ingress': trickle(mesh.ingress_url, hook, ' '),
  };
  await eventually(async () => {
    // Other clients are served meanwhile.
    expect((await partner.call('GET', '/clients')).status).toBe(200);
    return Object.values(slow).every(({ is_closed }) => is_closed);
  }, CLOSED_LIMIT_MS);
  const { said } = slow['headers at the edge'];
  expect(said).toMatch(/^HTTP\/1\.1 400 /);
  expect(said).toContain('"code":"INVALID_PAYLOAD"');
});

test('slow bodies of anonymous clients take no place of a partner, and are answered within seconds', async () => {
  const IN_FLIGHT_MAX = 2_000;
  const { origin } = new URL(mesh.base_url);
  const head =
    `Host: x\r\nOrigin: ${origin}\r\nx-connect-token: ${createKey(CONNECT_TOKEN_PREFIX)}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n{';
  const paths = ['/dashboard/api/session', '/connect/events'];
  const all = Array.from({ length: 1.1 * IN_FLIGHT_MAX }, (_, count) =>
    trickle(mesh.base_url, `POST ${paths[count % 2]} HTTP/1.1\r\n${head}`, ' '),
  );
  await eventually(async () => {
    expect((await partner.call('GET', '/clients')).status).toBe(200);
    return all.every(({ is_closed }) => is_closed);
  }, CLOSED_LIMIT_MS);
  // Late, over the limit of the network, or over the pool of open routes; unread when the client
  // still sent.
  const statuses = new Set(all.map(({ said }) => said.slice(9, 12)));
  expect([...statuses].filter((status) => !['400', '429', '503', ''].includes(status))).toEqual([]);
});

test('answers 503 and counts it when held-back bodies fill the ingress, then recovers', async () => {
  const MIB = 1024 * 1024;
  const shed = async (): Promise<number> => {
    const { values } = await metrics.requests_shed.get();
    const found = values.filter(({ labels }) => labels['server'] === 'ingress');
    return found.find(({ labels }) => labels['reason'] === 'unverified_body_bytes')?.value ?? 0;
  };
  const before = await shed();
  const { hostname, port } = new URL(mesh.ingress_url);
  const head =
    `POST /webhooks/upstream HTTP/1.1\r\nHost: x\r\n${SIGNED}` +
    `Content-Length: ${4 * MIB}\r\n\r\n`;
  const hold = (): Promise<unknown> => {
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    held.push(socket);
    socket.on('error', () => undefined);
    // All but the last byte.
    return new Promise((resolve) => socket.write(head + '{'.padEnd(4 * MIB - 1), resolve));
  };
  const held: Socket[] = [];
  const body = inboundBody(ONE, { from: '15550100777', id: 'wamid.FULL.1' });
  await Promise.all(Array.from({ length: 32 }, hold));
  // Bodies that reach the limit together are all refused and leave room, so hold one more.
  await eventually(
    async () => (await postRaw(mesh.ingress_url, body)) === 503 || void (await hold()),
  );
  expect(await shed()).toBeGreaterThan(before);
  for (const socket of held) socket.destroy();
  await eventually(async () => (await postRaw(mesh.ingress_url, body)) === 200);
});
