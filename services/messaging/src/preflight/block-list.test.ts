import { createLogger } from '@bmg/common/telemetry';
import type { Json, UpstreamRequest } from '@bmg/common/upstream';
import { TARGET } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';
import { blockList, blockReasons, createBlockLists, incompleteList } from './block-list';

const log = createLogger('block-list-test');

/** An upstream whose list has `blocked` customers, and reads of it. */
function upstreamWith(blocked: number) {
  const asked: UpstreamRequest[] = [];
  const request = async (one: UpstreamRequest): Promise<Json> => {
    asked.push(one);
    const { limit, after } = one.query as { limit: number; after?: string };
    const start = Number(after ?? 0);
    const end = Math.min(start + limit, blocked);
    const data = Array.from({ length: end - start }, (_, index) => ({
      messaging_product: 'whatsapp',
      wa_id: String(15_550_100_000 + start + index),
      user_id: `US.blocked${start + index}`,
    }));
    const more = end < blocked ? { next: 'https://upstream/next' } : {};
    return { data, paging: { cursors: { after: String(end) }, ...more } };
  };
  const lists = createBlockLists({ request }, log);
  return { asked, read: () => lists.of(TARGET, 'token', aCall()) };
}

/** The cache reads the clock at most once a millisecond. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const codes = (reasons: Array<{ code: string }>): string[] => reasons.map(({ code }) => code);

test('a blocked customer is named by number and by BSUID', async () => {
  const list = await upstreamWith(250).read();
  expect(codes(blockReasons(list, ['15550100249']))).toEqual(['RECIPIENT_BLOCKED']);
  expect(codes(blockReasons(list, ['15550109999', 'US.blocked7']))).toEqual(['RECIPIENT_BLOCKED']);
  expect(blockReasons(list, ['15550100250'])).toEqual([]);
  expect(incompleteList(list)).toEqual([]);
});

test.each([
  ['in the other spelling', ['551187650001'], true],
  ['by the id that the upstream gave', ['5511987650001', '5511987650001'], true],
  ['unless the upstream gave another id', ['551187650001', '551187650001'], false],
  ['unless it only looks alike', ['551187650002'], false],
])('a customer is blocked %s', (_how, ids, blocked) => {
  const list = blockList(['5511987650001'], true);
  expect(codes(blockReasons(list, ids))).toEqual(blocked ? ['RECIPIENT_BLOCKED'] : []);
});

test('reads at most ten pages, and reports that more follow', async () => {
  const { asked, read } = upstreamWith(5_000);
  const list = await read();
  expect([asked.length, list.ids.size]).toEqual([10, 2_000]);
  expect(codes(incompleteList(list))).toEqual(['BLOCK_LIST_UNKNOWN']);
});

test('pre-flights within half a minute share one reading', async () => {
  let now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const { asked, read } = upstreamWith(1);
  await Promise.all([read(), read()]);
  now += 29_000;
  await nextTurn();
  await read();
  expect(asked).toHaveLength(1);
  now += 2_000;
  await nextTurn();
  await read();
  expect(asked).toHaveLength(2);
  clock.mockRestore();
});

test('an upstream that fails leaves the list unknown', async () => {
  const request = () => Promise.reject(new Error('unreachable'));
  const lists = createBlockLists({ request }, log);
  const list = await lists.of(TARGET, 'token', aCall());
  expect(blockReasons(list, ['15550100000'])).toEqual([]);
  expect(incompleteList(list)).toMatchObject([{ effect: 'note' }]);
});
