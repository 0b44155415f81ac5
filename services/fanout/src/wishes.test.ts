// Extra events go only to partners whose filters name them; unwanted ones are ignored.
import type { Versions } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { unsampled } from '@bmg/common/telemetry';
import { status } from '@grpc/grpc-js';
import { normalise } from './normalise';
import { itemsOf, type Addressed, type ReadWebhook } from './read-webhook';
import { createWishes } from './wishes';

let calls: string[][];
let version: string;
let wanted: Record<string, { names: string[] }>;
let fails: Error | undefined;
beforeEach(() => {
  calls = [];
  version = 'v1';
  wanted = { ptn_1: { names: ['flow.updated', 'upstream.other'] } };
  fails = undefined;
});

const aFilter = () => {
  const directory = {
    async getExtraEvents({ partner_ids }: { partner_ids: string[] }) {
      calls.push(partner_ids);
      if (fails) throw fails;
      return { wanted };
    },
  };
  const versions = { current: async (keys: string[]) => keys.map(() => version) };
  return createWishes(directory as never, versions as unknown as Versions);
};

const value = { metadata: { phone_number_id: '800000000000001' } };
function addressed(fields: Record<string, object>, partner_ids: string[]): Addressed[] {
  const changes = Object.entries(fields).map(([field, more]) => ({
    field,
    value: { ...value, ...more },
  }));
  const body = {
    object: 'whatsapp_business_account',
    entry: [{ id: '900000000000001', changes }],
  };
  const from = { normalised: normalise(body, 1_790_000_000) } as ReadWebhook;
  const owner = { partner_ids, phone_number_id: undefined, waba_id: undefined };
  return itemsOf([from]).map((item) => ({ item, owner }));
}
const shown = (all: Addressed[]) =>
  all.map(({ item, owner }) => ['event' in item ? item.event : item.kind, owner.partner_ids]);

const MESSAGE = { messages: { messages: [{ id: 'wamid.1', from: '15550100777', type: 'text' }] } };

test('an extra event goes to the owners that ask for it, an event of the contract to all', async () => {
  const all = addressed({ ...MESSAGE, flows: { event: 'X' } }, ['ptn_1', 'ptn_2']);
  expect(shown(await aFilter().filter(all, unsampled()))).toEqual([
    ['message.received', ['ptn_1', 'ptn_2']],
    ['flow.updated', ['ptn_1']],
  ]);
});

test('an extra event that no owner wants counts as ignored, under its field and reason', async () => {
  const all = addressed({ security: {}, calls: { polls: [1] }, new_field: {} }, ['ptn_2']);
  expect(await aFilter().filter(all, unsampled())).toEqual([]);
  expect([...(all[0]?.item.from.normalised.ignored.values() ?? [])]).toEqual([
    { field: 'security', reason: 'no_event', count: 1 },
    { field: 'calls', reason: 'no_event', count: 1 },
    { field: 'new_field', reason: 'unknown_field', count: 1 },
  ]);
});

test('events of the contract and state changes look nothing up', async () => {
  const all = addressed({ ...MESSAGE }, ['ptn_1']);
  expect(await aFilter().filter(all, unsampled())).toBe(all);
  expect(calls).toEqual([]);
});

test('one look-up serves a partner until its directory version changes', async () => {
  const wishes = aFilter();
  const filter = () => wishes.filter(addressed({ security: {} }, ['ptn_1']), unsampled());
  expect([await filter(), await filter()]).toEqual([[], []]);
  expect(calls).toEqual([['ptn_1']]);
  wanted = { ptn_1: { names: ['number.security_updated'] } };
  version = 'v2';
  expect(shown(await filter())).toEqual([['number.security_updated', ['ptn_1']]]);
});

test('an onboarding of the previous release delivers no extra events, and fails nothing', async () => {
  fails = new ApiError('SERVER_ERROR', 'no such RPC', {
    cause: Object.assign(new Error('no such RPC'), { code: status.UNIMPLEMENTED }),
  });
  expect(await aFilter().filter(addressed({ flows: {} }, ['ptn_1']), unsampled())).toEqual([]);
});

test('fails while the directory is unreachable, so that the webhook is read again', async () => {
  fails = new ApiError('SERVICE_UNAVAILABLE', 'unreachable');
  const filtered = aFilter().filter(addressed({ flows: {} }, ['ptn_1']), unsampled());
  await expect(filtered).rejects.toThrow('unreachable');
});
