// The audit log on the wire: what a record holds, and that no change is made without its record: a
// gateway that is killed, or that does not reach onboarding.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { freePort } from '../../deploy/local/src/ports';
import { callRest, ONE, TWO_A, type Answer } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { forward } from '../testkit/forwarder';
import { ADA } from './endpoint-stage';
import { startGateway, useMesh, usePartner } from './use-mesh';

const GATEWAY = resolve(__dirname, '../../gateway/dist/main.js');
const TELEMETRY = resolve(__dirname, '../../services/common/dist/telemetry/register.js');
const NUMBER = { 'x-waba-id': ONE.waba_id };

const mesh = useMesh();
const partner = usePartner(mesh, [ONE, TWO_A], { rate_limit_per_sec: 10_000 });

type AuditRecord = { id: string } & Record<string, unknown>;

async function read(query: Record<string, string> = {}, headers = {}): Promise<AuditRecord[]> {
  const path = `/audit?${new URLSearchParams(query).toString()}`;
  const { status, body } = await partner.call('GET', path, undefined, headers);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.records as AuditRecord[];
}
const newest = async (action: string): Promise<AuditRecord | undefined> =>
  (await read({ limit: '1', action }))[0];

test('a change names who made it, what it changed, and how it ended', async () => {
  const answer = await partner.call('POST', '/keys', { name: 'Shop', scopes: ['read'] });
  const record = await newest('POST /keys');
  expect(record).toEqual({
    id: expect.stringMatching(/^aud_/),
    at: expect.stringMatching(/Z$/),
    actor: { type: 'partner_key', id: null, name: expect.stringMatching(/^bmgk_…\w{4}$/) },
    action: 'POST /keys',
    target: { key_id: answer.body.key.key_id },
    fields: ['name', 'scopes'],
    before: null,
    after: { name: 'Shop', scopes: ['read'] },
    outcome: 'succeeded',
    code: null,
    request_id: answer.headers.get('x-request-id'),
    address: expect.stringMatching(/127\.0\.0\.1$/),
    ended_at: expect.stringMatching(/Z$/),
    count: 1,
  });
  expect(JSON.stringify(await read())).not.toContain(answer.body.secret);
});

test('a reader gets the same records as CSV', async () => {
  const whole = (await read({ limit: '100' })).map(({ id }) => id);
  const csv = await fetch(`${mesh.base_url}/audit`, {
    headers: { 'x-partner-key': partner.partner_key, accept: 'text/csv' },
  });
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect((await csv.text()).match(/^aud_\w+/gm)).toEqual(whole);
});

describe('no change is made without its record', () => {
  const QR = { prefilled_message: 'Hi' };
  const codesMade = async (): Promise<number> =>
    (
      await mesh.emulator.requests({
        path: `/${ONE.phone_number_id}/message_qrdls`,
        method: 'POST',
      })
    ).length;
  const at = (base_url: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    callRest(base_url, method, path, body, { 'x-partner-key': partner.partner_key, ...NUMBER });

  test('when the gateway is killed while it makes the change', async () => {
    const port = await freePort();
    const base_url = `http://127.0.0.1:${port}/v1`;
    const env = { ...mesh.env, GATEWAY_PORT: String(port), METRICS_PORT: '0' };
    const gateway = spawn(process.execPath, ['--require', TELEMETRY, GATEWAY], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    try {
      await eventually(async () => (await at(base_url, 'GET', '/health')).status === 200);
      const before = await codesMade();
      await mesh.emulator.fault({ match: { path: '/message_qrdls' }, times: 1, delay_ms: 1_500 });
      const lost = at(base_url, 'POST', '/qr-codes', QR).catch(() => 'no answer');
      await eventually(async () => (await codesMade()) === before + 1);
      gateway.kill('SIGKILL');
      await once(gateway, 'exit');
      expect(await lost).toBe('no answer');
      expect(await newest('POST /qr-codes')).toMatchObject({
        outcome: 'unknown',
        ended_at: null,
        target: { waba_id: ONE.waba_id },
      });
    } finally {
      await mesh.emulator.clearFaults();
      gateway.kill('SIGKILL');
    }
  });

  test('when onboarding is unreachable: changes are refused and sends continue', async () => {
    const onboarding = await freePort();
    const forwarder = await forward(onboarding, mesh.env['ONBOARDING_ADDR'] as string);
    const { base_url, stop } = await startGateway({
      ...mesh.env,
      ONBOARDING_ADDR: `127.0.0.1:${onboarding}`,
    });
    try {
      const text = { to: ADA, text: 'Hello' };
      expect((await at(base_url, 'POST', '/qr-codes', QR)).status).toBe(201);
      expect((await at(base_url, 'POST', '/messages/send', text)).status).toBe(200);
      const before = await codesMade();
      await forwarder.close();
      const refused = await at(base_url, 'POST', '/qr-codes', QR);
      expect(refused.body.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(await codesMade()).toBe(before);
      expect((await at(base_url, 'POST', '/messages/send', text)).status).toBe(200);
    } finally {
      await stop();
      await forwarder.close().catch(() => undefined);
    }
  });
});
