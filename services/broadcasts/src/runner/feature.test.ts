import type { Event } from '@bmg/proto/stream';
import { giveWayToOwnSends } from './feature';
import { statusesOfEvents } from '../../../../test/testkit/state-of-events';

const NOW = 1_790_000_000_000;

const event = (overrides: Partial<Event> = {}) => ({
  message: {
    occurrence_id: 'occ_1',
    event: 'message.sent',
    internal: false,
    waba_id: '800',
    phone_number_id: '700',
    contact: '15550100777',
    timestamp: NOW / 1_000,
    data: '{}',
    received_at_ms: NOW,
    partner_ids: ['ptn_1'],
    opaque: 'bmg1:ptn_1:req-1',
    ...overrides,
  },
  key: '',
  span: undefined,
  partition: 0,
  offset: '0',
});

async function slotsGiven(...events: Array<ReturnType<typeof event>>) {
  const given: Array<[string, number]> = [];
  await giveWayToOwnSends({
    pace: { giveWay: async (number, count) => void given.push([number, count]) },
    isActive: (number) => number !== '702',
    now: () => NOW,
  })(statusesOfEvents(events));
  return given;
}

test('each message outside a broadcast takes a slot of its number, even without callback data of ours', async () => {
  expect(
    await slotsGiven(
      event(),
      event({ opaque: undefined }),
      event({ phone_number_id: '701', opaque: 'foreign data' }),
    ),
  ).toEqual([
    ['700', 2],
    ['701', 1],
  ]);
});

test.each<[string, Partial<Event>]>([
  ['a broadcast’s own message', { opaque: 'bmg1:ptn_1:bc_42_3_17_0123456789ab' }],
  ['a number without an active broadcast', { phone_number_id: '702' }],
  ['a later status of the same message', { event: 'message.delivered' }],
  ['an old message from a backlog', { timestamp: NOW / 1_000 - 11 }],
  ['an event of the account', { phone_number_id: undefined }],
])('%s takes no slot', async (_what, overrides) => {
  expect(await slotsGiven(event(overrides))).toEqual([]);
});
