import { createServer, type AddressInfo } from 'node:net';
import { createRpcClient, createRpcServer, implement } from '@bmg/common/rpc';
import { createLogger, startSpan } from '@bmg/common/telemetry';
import { RatesDefinition, type CategoryChange } from '@bmg/proto/messaging';
import { createCategoryCosts } from './category-costs';
import type { NormalisedEvent } from './normalise';

const log = createLogger('category-costs-test');
const UNREAD = {
  from: '2026-09-21',
  currency: null,
  unit_prices: null,
  reason: 'the prices could not be read',
};

const changed = (data: object = {}): NormalisedEvent => ({
  occurrence: 'template_category|1',
  event: 'template.category_updated',
  waba_id: '900000000000001',
  phone_number_id: null,
  display_phone_number: null,
  contact: null,
  timestamp: 1_790_000_000,
  data: { previous_category: 'UTILITY', new_category: 'MARKETING', ...data },
});

async function costsOf(events: NormalisedEvent[], address?: string): Promise<unknown[]> {
  const client = address === undefined ? undefined : createRpcClient(RatesDefinition, address);
  try {
    await createCategoryCosts(client?.rpc, log).add(events, startSpan('test').spanContext());
  } finally {
    await client?.stop();
  }
  return events.map(({ data }) => data['cost']);
}

const unused = async (): Promise<never> => {
  throw new Error('not asked for');
};
const asked: CategoryChange[][] = [];
/** Has prices for each change but those to `NEWS`. */
const server = createRpcServer(
  { host: '127.0.0.1', port: 0 },
  [
    implement(RatesDefinition, {
      loadRates: unused,
      getRates: unused,
      listPrices: unused,
      compareCategories: async ({ changes }) => {
        asked.push(changes);
        return {
          prices: changes.map(({ new_category }) =>
            new_category === 'NEWS'
              ? { markets: [], reason: 'no rate' }
              : { currency: 'USD', markets: [{ market: 'Germany', new: '0.1365' }] },
          ),
        };
      },
    }),
  ],
  log,
);
beforeAll(() => server.start(new AbortController().signal));
beforeEach(() => void asked.splice(0));
afterAll(() => server.stop());
const ofServer = (): string => `127.0.0.1:${server.port}`;

test('prices each change for the day on which it takes effect, and requests equal ones once', async () => {
  const events = [
    changed(),
    changed(),
    changed({ announced: true, effective_at: 1_790_600_000 }),
    changed({ previous_category: null, new_category: 'NEWS', effective_at: null }),
  ];
  const unit_prices = [{ market: 'Germany', previous: null, new: '0.1365' }];
  const priced = { currency: 'USD', unit_prices, reason: null };
  expect(await costsOf(events, ofServer())).toEqual([
    { from: '2026-09-21', ...priced },
    { from: '2026-09-21', ...priced },
    { from: '2026-09-28', ...priced },
    { ...UNREAD, reason: 'no rate' },
  ]);
  expect(asked.flat()).toHaveLength(3);
});

test('requests many changes in parts', async () => {
  const events = Array.from({ length: 250 }, (_, day) =>
    changed({ effective_at: 1_790_000_000 + day * 86_400 }),
  );
  const costs = await costsOf(events, ofServer());
  expect(costs).toHaveLength(250);
  expect(costs.every((cost) => (cost as { currency: string }).currency === 'USD')).toBe(true);
  expect(asked.map((part) => part.length)).toEqual([100, 100, 50]);
});

test('leaves other events unchanged', async () => {
  const other: NormalisedEvent = { ...changed(), event: 'template.quality_updated' };
  expect(await costsOf([other])).toEqual([undefined]);
});

test('reports prices as unknown without an address of messaging', async () => {
  expect(await costsOf([changed()])).toEqual([UNREAD]);
});

test('continues without prices while messaging is unreachable, and while it hangs', async () => {
  const silent = createServer();
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  const { port } = silent.address() as AddressInfo;
  try {
    expect(await costsOf([changed()], `127.0.0.1:${port}`)).toEqual([UNREAD]);
  } finally {
    silent.close();
  }
  expect(await costsOf([changed()], `127.0.0.1:${port}`)).toEqual([UNREAD]);
});
