// The rate limit is shared by all replicas; while Redis is down each replica limits in memory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startEngine, stopEngine } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { callRest, ONE, startMesh, type Answer } from '../harness/mesh';
import { startGateway, useMesh, usePartner } from './use-mesh';

const RATE = 20;
/**
 * Few at a time: in this one process, more of them delay the answers of Redis above its time limit.
 */
const AT_ONCE = 20;
const dir = mkdtempSync(join(tmpdir(), 'bmg-limits-'));
let redisPort: number;
let second: Awaited<ReturnType<typeof startGateway>> | undefined;

const redis = () => startEngine('redis', { dir, port: redisPort, env: {}, log: () => undefined });

afterAll(() => second?.stop());
const mesh = useMesh(async () => {
  redisPort = await freePort();
  return startMesh({ REDIS_URL: (await redis()).url });
});
const partner = usePartner(mesh, [ONE], { rate_limit_per_sec: RATE });
beforeAll(async () => {
  second = await startGateway(mesh.env);
});
afterAll(async () => {
  await stopEngine('redis', { dir, log: () => undefined });
  rmSync(dir, { recursive: true, force: true });
});

const secondUrl = (): string => second?.base_url as string;
const get = (base_url: string) =>
  callRest(base_url, 'GET', '/clients', undefined, { 'x-partner-key': partner.partner_key });

/** Sends `count` requests over both replicas and counts the admitted ones. */
async function countAdmitted(count: number): Promise<{ allowed: number; seconds: number }> {
  // Fills the bucket again.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const started = performance.now();
  const answers: Answer[] = [];
  while (answers.length < count) {
    const some = Array.from({ length: AT_ONCE }, (_none, index) =>
      get(index % 2 ? secondUrl() : mesh.base_url),
    );
    answers.push(...(await Promise.all(some)));
  }
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body, headers } of refused) {
    expect([status, body.error.code, body.error.retryable]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
      true,
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(headers.get('ratelimit-limit')).toBe(String(RATE));
    expect(headers.get('ratelimit-remaining')).toBe('0');
  }
  const seconds = (performance.now() - started) / 1_000;
  return { allowed: count - refused.length, seconds };
}

test('shares one bucket between two replicas', async () => {
  await get(secondUrl());
  const { allowed, seconds } = await countAdmitted(100);
  expect(allowed).toBeGreaterThanOrEqual(RATE - 1);
  expect(allowed).toBeLessThanOrEqual(RATE + Math.ceil(RATE * seconds) + 1);
});

test('stops messaging through one replica at once after a deletion through the other', async () => {
  const leaving = await mesh.createPartner();
  await leaving.register(ONE);
  const send = () =>
    callRest(
      secondUrl(),
      'POST',
      '/messages/send',
      { to: '15550100777', text: 'Hello' },
      { 'x-partner-key': leaving.partner_key, 'x-waba-id': ONE.waba_id },
    );
  expect((await send()).status).toBe(200);
  await leaving.call('DELETE', `/clients/${ONE.waba_id}`);
  expect((await send()).body.error.code).toBe('WABA_NOT_REGISTERED');
});

describe('while Redis is down', () => {
  beforeAll(async () => {
    await stopEngine('redis', { dir, log: () => undefined });
  });

  test('limits in the memory of each replica', async () => {
    const { allowed, seconds } = await countAdmitted(200);
    expect(allowed).toBeGreaterThanOrEqual(RATE);
    expect(allowed).toBeLessThanOrEqual(2 * (RATE + Math.ceil(RATE * seconds) + 1));
  });

  test('keeps sending, and a deletion still stops sends before it is answered', async () => {
    const leaving = await mesh.createPartner();
    expect((await leaving.register(ONE)).status).toBe(201);
    const scope = { 'x-waba-id': ONE.waba_id };
    const send = () =>
      leaving.call('POST', '/messages/send', { to: '15550100777', text: 'Hello' }, scope);
    expect((await send()).status).toBe(200);
    expect((await leaving.call('DELETE', `/clients/${ONE.waba_id}`)).status).toBe(200);
    expect((await send()).body.error.code).toBe('WABA_NOT_REGISTERED');
  });

  test('reports degraded health, and recovers when Redis is back', async () => {
    const health = () => callRest(mesh.base_url, 'GET', '/health');
    await eventually(async () => (await health()).body.status === 'degraded');
    expect((await health()).status).toBe(200);
    await redis();
    await eventually(async () => (await health()).body.status === 'ok');
    const { allowed, seconds } = await countAdmitted(100);
    expect(allowed).toBeLessThanOrEqual(RATE + Math.ceil(RATE * seconds) + 1);
  });
});
