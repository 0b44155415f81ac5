import type { Received } from '@bmg/common/bus';
import type { Statuses } from '@bmg/proto/stream';
import { aStatus } from '../../test/builders';
import { giveWayToOwnSends } from './feature';

const NOW = 1_790_000_000_000;
const own = { timestamp: NOW / 1_000, opaque: 'bmg1:ptn_1:req-1' };
const on = (phone_number_id: string | undefined) => ({ phone_number_id });

async function slotsGiven(...statuses: Received<Statuses>[]) {
  const given: Array<[string, number]> = [];
  await giveWayToOwnSends({
    pace: { giveWay: async (number, count) => void given.push([number, count]) },
    isActive: (number) => number !== '702',
    now: () => NOW,
  })(statuses);
  return given;
}

test('each message outside a broadcast takes a slot of its number, even without callback data of ours', async () => {
  expect(
    await slotsGiven(
      aStatus('sent', own),
      aStatus('sent', { ...own, opaque: undefined }),
      aStatus('sent', { ...own, opaque: 'foreign data' }, on('701')),
    ),
  ).toEqual([
    ['700', 2],
    ['701', 1],
  ]);
});

test.each<[string, Received<Statuses>]>([
  [
    'a broadcast’s own message',
    aStatus('sent', { ...own, opaque: 'bmg1:ptn_1:bc_42_3_17_0123456789ab' }),
  ],
  ['a number without an active broadcast', aStatus('sent', own, on('702'))],
  ['a later status of the same message', aStatus('delivered', own)],
  ['an old message from a backlog', aStatus('sent', { ...own, timestamp: NOW / 1_000 - 11 })],
  ['an event of the account', aStatus('sent', own, on(undefined))],
])('%s takes no slot', async (_what, status) => {
  expect(await slotsGiven(status)).toEqual([]);
});
