import type { ListRequestsRequest, LoggedRequest } from '@bmg/proto/onboarding';
import { openWorld, type World, calling, refuses } from '../../../test/world';
import { createRequestLogHandlers } from './handlers';

let world: World;
let handlers: ReturnType<typeof createRequestLogHandlers>;
beforeAll(async () => {
  world = await openWorld();
  handlers = calling(createRequestLogHandlers(world.deps));
});
afterAll(() => world.close());

const START = Date.now() - 3_600_000;

const aCall = (second: number, change: Partial<LoggedRequest> = {}): LoggedRequest => ({
  id: '',
  at: new Date(START + second * 1_000),
  method: 'POST',
  path: '/messages/send',
  status: 200,
  duration_ms: 1.5,
  request_id: `req-${second}`,
  ...change,
});

const record = (partner_id: string, ...requests: LoggedRequest[]) =>
  handlers.recordRequests({ partners: [{ partner_id, requests }] });

const list = (partner_id: string, change: Partial<ListRequestsRequest> = {}) =>
  handlers.listRequests({
    partner_id,
    status_classes: [],
    limit: 0,
    ...change,
  });

const idsOf = async (...given: Parameters<typeof list>): Promise<string[]> =>
  (await list(...given)).requests.map(({ request_id }) => request_id);

test('returns a call as the gateway recorded it, to its partner only', async () => {
  const call = aCall(1, {
    ...{ status: 400, code: 'MISSING_FIELDS', ignored: 'q', upstream_code: 132_001 },
    ...{ key_id: 'key_1', waba_id: '900', phone_number_id: '800' },
    ...{ parameters: '{"a":1}', request_body: '{}', answer_body: '{"b":2}' },
  });
  await record('ptn_whole', call);
  const { requests, after } = await list('ptn_whole');
  expect(requests).toEqual([{ ...call, id: expect.stringMatching(/^call_/) }]);
  expect(after).toBeUndefined();
  expect(await idsOf('ptn_other')).toEqual([]);
  const [found] = requests;
  expect(await idsOf('ptn_whole', { id: found?.id })).toEqual(['req-1']);
  expect(await idsOf('ptn_other', { id: found?.id })).toEqual([]);
});

test('lists the newest first, in pages, whatever process recorded them', async () => {
  await record('ptn_pages', aCall(3), aCall(1));
  await record('ptn_pages', aCall(2), aCall(4));
  const first = await list('ptn_pages', { limit: 3 });
  expect(first.requests.map(({ request_id }) => request_id)).toEqual(['req-4', 'req-3', 'req-2']);
  expect(await idsOf('ptn_pages', { limit: 3, cursor: first.after })).toEqual(['req-1']);
  await refuses(list('ptn_pages', { cursor: 'x' }), 'INVALID_FIELD', 'cursor');
});

test('filters by endpoint, status, key and request ID, together too', async () => {
  await record(
    'ptn_filters',
    aCall(1),
    aCall(2, { method: 'GET', path: '/clients', key_id: 'key_1' }),
    aCall(3, { status: 404, key_id: 'key_1' }),
    aCall(4, { status: 502 }),
  );
  const ids = (change: Partial<ListRequestsRequest>) => idsOf('ptn_filters', change);
  expect(await ids({ endpoint: 'GET /clients' })).toEqual(['req-2']);
  expect(await ids({ status_classes: [2] })).toEqual(['req-2', 'req-1']);
  expect(await ids({ status_classes: [4, 5] })).toEqual(['req-4', 'req-3']);
  expect(await ids({ key_id: 'key_1' })).toEqual(['req-3', 'req-2']);
  expect(await ids({ key_id: 'partner_key' })).toEqual(['req-4', 'req-1']);
  expect(await ids({ request_id: 'req-3' })).toEqual(['req-3']);
  expect(await ids({ key_id: 'key_1', status_classes: [4, 5] })).toEqual(['req-3']);
});

test('bounds what it stores, and puts no call into the future', async () => {
  await record('ptn_bounds', {
    ...aCall(1, { request_id: 'r'.repeat(5_000), request_body: `"${'b'.repeat(10_000)}"` }),
    at: new Date(Date.now() + 3_600_000),
  });
  const [call] = (await list('ptn_bounds')).requests;
  expect(call?.request_id).toHaveLength(1_024);
  expect(call?.request_body).toBeUndefined();
  expect(call?.at?.getTime()).toBeLessThanOrEqual(Date.now());
});
