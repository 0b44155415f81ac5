import { createServer } from 'node:net';
import { createLogger, startSpan } from '@bmg/common/telemetry';
import { RatesDefinition, type CategoryChange } from '@bmg/proto/messaging';
import { useLocalServers } from '../../common/test/local-servers';
import { HOST, useRpc } from '../../common/test/rpc';
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

const { portOf } = useLocalServers();
const { serve, client } = useRpc();
async function costsOf(events: NormalisedEvent[], port?: number): Promise<unknown[]> {
  const rates =
    port === undefined ? undefined : (client(RatesDefinition, `${HOST}:${port}`) as never);
  await createCategoryCosts(rates, log).add(events, startSpan('test').spanContext());
  return events.map(({ data }) => data['cost']);
}

let asked: CategoryChange[][];
let port: number;
/** Has prices for each change but those to `NEWS`. */
const compareCategories = async ({ changes }: { changes: CategoryChange[] }) => {
  asked.push(changes);
  return {
    prices: changes.map(({ new_category }) =>
      new_category === 'NEWS'
        ? { markets: [], reason: 'no rate' }
        : { currency: 'USD', markets: [{ market: 'Germany', new: '0.1365' }] },
    ),
  };
};
beforeEach(async () => {
  asked = [];
  ({ port } = await serve(RatesDefinition, { compareCategories }));
});

test('prices each change for the day on which it takes effect, and requests equal ones once', async () => {
  const events = [
    changed(),
    changed(),
    changed({ announced: true, effective_at: 1_790_600_000 }),
    changed({ previous_category: null, new_category: 'NEWS', effective_at: null }),
  ];
  const unit_prices = [{ market: 'Germany', previous: null, new: '0.1365' }];
  const priced = { currency: 'USD', unit_prices, reason: null };
  expect(await costsOf(events, port)).toEqual([
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
  const costs = await costsOf(events, port);
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
  const silent_port = await portOf(silent);
  expect(await costsOf([changed()], silent_port)).toEqual([UNREAD]);
  silent.close();
  expect(await costsOf([changed()], silent_port)).toEqual([UNREAD]);
});
