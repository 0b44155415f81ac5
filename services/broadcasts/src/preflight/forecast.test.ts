import type { Credential } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import { createLogger } from '@bmg/common/telemetry';
import { aBroadcast, someContacts } from '../../test/builders';
import { createForecastLimits, forecastBroadcast, type ForecastDependencies } from './forecast';

const NOW = new Date('2026-09-20T10:00:00Z');
const CALL = {} as Call;

/** Every forecast waits at messaging until `answer` is called. */
function aForecaster() {
  const waiting: Array<() => void> = [];
  const deps: ForecastDependencies = {
    chunks: { contacts: async () => someContacts(2) },
    credentials: { of: async () => ({}) as Credential },
    findTemplate: async () => ({ is_reachable: true, template: undefined }) as never,
    messaging: {
      checkContacts: () =>
        new Promise((resolve) => {
          waiting.push(() =>
            resolve({ findings: [], windows: { open: 0, closed: 2, unknown: 0 } } as never),
          );
        }),
    },
    readPace: async () => ({ rate_per_sec: 20, broadcasts_per_sec: 20, queued: 0 }),
    limits: createForecastLimits(createLogger('forecast-test')),
    now: () => NOW,
  };
  return {
    ask: (partner_id: string, status: 'awaiting_approval' | 'completed' = 'awaiting_approval') =>
      forecastBroadcast(deps, aBroadcast({ partner_id, status, total: 2 }), CALL),
    waiting,
    answer: () => waiting.splice(0).forEach((done) => done()),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const REFUSED = { code: 'RATE_LIMIT_EXCEEDED', http: 429, retry_after_s: 1 };

test('a broadcast that has ended has no forecast', async () => {
  expect(await aForecaster().ask('a', 'completed')).toBeUndefined();
});

test('a partner has two forecasts at a time, all partners four', async () => {
  const { ask, answer, waiting } = aForecaster();
  const first = [ask('a'), ask('a')];
  await expect(ask('a')).rejects.toMatchObject(REFUSED);
  const second = [ask('b'), ask('b')];
  await expect(ask('c')).rejects.toMatchObject(REFUSED);
  await settled();
  expect(waiting).toHaveLength(4);
  answer();
  expect(await Promise.all([...first, ...second])).toEqual(
    Array(4).fill(expect.objectContaining({ total: 2, failing: 0, cost: null })),
  );
  const third = ask('c');
  await settled();
  answer();
  await third;
});
