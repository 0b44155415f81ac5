import { ApiError } from '@bmg/common/errors';
import { WEBHOOK_FIELDS } from './app-subscription';
import { checkChain } from '../accounts/audit';
import type { Dependencies } from '../dependencies';
import { diagnose, type Check } from './diagnose';

jest.mock('../accounts/audit', () => ({ checkChain: jest.fn() }));

const INTACT = {
  links: 2,
  records: 5,
  faults: [],
  unsent: 0,
  newest: undefined,
  next: undefined,
};
beforeEach(() => void jest.mocked(checkChain).mockResolvedValue(INTACT));

const SUBSCRIPTION = {
  object: 'whatsapp_business_account',
  callback_url: 'https://hooks.test/webhooks/upstream',
  fields: WEBHOOK_FIELDS.map((name) => ({ name })),
};

const deps = (change: object = {}): Dependencies =>
  ({
    settings: {
      UPSTREAM_URL: 'https://upstream.test',
      UPSTREAM_APP_ID: 'app',
      UPSTREAM_APP_SECRET: 'secret-of-the-app',
      UPSTREAM_CONFIG_ID: 'config',
      UPSTREAM_FEATURE_TYPE: 'the_platforms_own',
      ALLOW_PRIVATE_URLS: false,
    },
    warnings: [],
    upstream: {
      request: async ({ path }: { path: string }) =>
        path === '/app/subscriptions' ? { data: [SUBSCRIPTION] } : { data: {} },
    },
    vault: { key_id: 'k2', open: () => 'token' },
    partners: { keysOfOtherPeppers: async () => ({ count: 0, partner_ids: [] }) },
    peppers: { newest_id: 'p2' },
    now: () => new Date(),
    sealedRecords: { countStale: async () => 0 },
    partnerKeys: { ofOtherPeppers: async () => ({ count: 0, partner_ids: [] }) },
    database: { db: { command: async () => undefined } },
    redis: { ping: async () => 'PONG' },
    bus: { missingTopics: async () => [] },
    clients: { newestActive: async () => [] },
    ...change,
  }) as never;

const find = async (name: string, change: object): Promise<Check> => {
  const check = (await diagnose(deps(change))).find((one) => one.name === name);
  return check as Check;
};

test('finds no fault if every engine responds, and reveals no secret', async () => {
  const checks = await diagnose(deps());
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(JSON.stringify(checks)).not.toContain('secret-of-the-app');
});

const refuse = async (): Promise<never> => Promise.reject(new Error('refused'));
const REFUSED = { ok: false, detail: 'refused', advice: expect.stringMatching(/./) };
const upstreamFails = (upstream_code?: number) => ({
  upstream: {
    request: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'no answer', { upstream_code })),
  },
});
const withSettings = (change: object) => ({ settings: { ...deps().settings, ...change } });
const NEUTRAL = { UPSTREAM_FEATURE_TYPE: 'messaging_business_app_onboarding' };
const TWO_MISSING = SUBSCRIPTION.fields.filter(({ name }) => !['calls', 'flows'].includes(name));

test.each<[what: string, check: string, change: object, expected: object]>([
  ['an unavailable database', 'mongo', { database: { db: { command: refuse } } }, REFUSED],
  ['an unavailable Redis', 'redis', { redis: { ping: refuse } }, REFUSED],
  ['an unavailable Kafka', 'kafka', { bus: { missingTopics: refuse } }, REFUSED],
  [
    'missing topics',
    'kafka',
    { bus: { missingTopics: async () => ['bmg.status.v1'] } },
    { ok: false, detail: 'missing topics: bmg.status.v1' },
  ],
  [
    'webhook fields to which the app is not subscribed',
    'webhook fields',
    { upstream: { request: async () => ({ data: [{ ...SUBSCRIPTION, fields: TWO_MISSING }] }) } },
    { ok: false, detail: 'the app is not subscribed to calls, flows' },
  ],
  [
    'records under an older key, as advice',
    'keyring',
    { sealedRecords: { countStale: async () => 3 } },
    { ok: true, advice: expect.stringContaining('rotated') },
  ],
  [
    'an upstream that refuses the app',
    'upstream',
    upstreamFails(190),
    { detail: expect.stringContaining('190') },
  ],
  ['an unavailable upstream', 'upstream', upstreamFails(), { detail: 'no answer' }],
  [
    'a sign-up that is not configured',
    'sign-up',
    withSettings({ UPSTREAM_CONFIG_ID: undefined }),
    { detail: expect.stringContaining('UPSTREAM_CONFIG_ID') },
  ],
  ['the neutral name of the feature', 'sign-up', withSettings(NEUTRAL), { ok: false }],
  [
    'no fault of that name at a local upstream',
    'sign-up',
    withSettings({ ...NEUTRAL, UPSTREAM_URL: 'http://127.0.0.1:8090' }),
    { ok: true },
  ],
  [
    'values for local work, as advice',
    'settings',
    { warnings: ['KEY_PEPPER has its fixed local value'] },
    {
      ok: true,
      detail: expect.stringContaining('KEY_PEPPER'),
      advice: expect.stringContaining('production'),
    },
  ],
])('reports %s', async (_what, name, change, expected) => {
  expect(await find(name, change)).toMatchObject(expected);
});

test('does not hang with an engine that hangs', async () => {
  jest.useFakeTimers();
  try {
    const command = (): Promise<void> => new Promise(() => undefined);
    const running = find('mongo', { database: { db: { command } } });
    await jest.advanceTimersByTimeAsync(10_000);
    expect((await running).ok).toBe(false);
  } finally {
    jest.useRealTimers();
  }
});

test('names the accounts that send no webhooks, and why', async () => {
  const answers: Record<string, () => Promise<object>> = {
    '/1/subscribed_apps': async () => ({ data: [{ whatsapp_business_api_data: { id: 'app' } }] }),
    '/2/subscribed_apps': async () => ({ data: [{ whatsapp_business_api_data: { id: 'other' } }] }),
    '/3/subscribed_apps': async () =>
      Promise.reject(new ApiError('UPSTREAM_ERROR', 'no', { upstream_code: 190 })),
  };
  const check = await find('subscriptions', {
    clients: {
      newestActive: async () => ['1', '2', '2', '3'].map((waba_id) => ({ waba_id })),
    },
    upstream: { request: async ({ path }: { path: string }) => answers[path]?.() ?? {} },
  });
  expect(check).toMatchObject({
    ok: false,
    detail: 'no events arrive from 2 is not subscribed, 3 cannot be checked (upstream code 190)',
  });
  expect(check.advice).toContain('resubscribe-webhook');
});

test('names a record of the audit log that was changed, and links that wait to be exported', async () => {
  const faults = [{ link: 3, record_id: 'aud_1', problem: 'was changed' }];
  jest.mocked(checkChain).mockResolvedValueOnce({ ...INTACT, faults });
  expect(await find('audit log', {})).toMatchObject({
    ok: false,
    detail: 'aud_1: was changed (1 faults)',
  });
  jest.mocked(checkChain).mockResolvedValueOnce({ ...INTACT, unsent: 60 });
  expect(await find('audit log', {})).toMatchObject({
    ok: true,
    advice: expect.stringContaining('60 links wait for AUDIT_EXPORT_URL'),
  });
});

test.each([
  ['p2', 'the newest pepper, p2'],
  ['', 'the pepper without an ID'],
])('counts the keys that are not yet hashed with the newest pepper', async (newest_id, name) => {
  const keysOfOtherPeppers = jest.fn(async () => ({ count: 3, partner_ids: ['ptn_1', 'ptn_2'] }));
  const change = { peppers: { newest_id }, partners: { keysOfOtherPeppers } };
  expect(await find('pepper', change)).toMatchObject({
    ok: true,
    detail: `3 partner keys are not yet hashed with ${name}: of ptn_1, ptn_2, …`,
    advice: expect.stringContaining('keep the older pepper'),
  });
  expect(keysOfOtherPeppers).toHaveBeenCalledWith(newest_id, expect.any(Date));
});
