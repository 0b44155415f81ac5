import { raiseFailureAlerts } from './failure-alerts';

test.each([
  ['3', []],
  ['2', [{ partner_id: 'ptn_1', cause: 'webhook_failures', day: '2026-10-05', value: '2' }]],
])('reports two refused events of today at a threshold of %s: %j', async (threshold, expected) => {
  const raised: unknown[] = [];
  const counted: unknown[][] = [];
  await raiseFailureAlerts({
    deliveries: { countRefused: async (...asked) => (counted.push(asked), 2) },
    alerts: {
      listWatchers: async () => ({ watchers: [{ partner_id: 'ptn_1', threshold }] }),
      raiseAlert: async (alert) => (raised.push(alert), {}),
    },
    now: () => new Date('2026-10-05T12:00:00Z'),
    log: {} as never,
  });
  expect(raised).toEqual(expected);
  expect(counted).toEqual([['ptn_1', new Date('2026-10-05T00:00:00Z')]]);
});
