import type { Received } from '@bmg/common/bus';
import type { Statuses, Statuses_Status } from '@bmg/proto/stream';
import { aStatus } from '../../test/builders';
import type { Change } from '../ground/contact-state';
import type { StateWriter } from './state-writer';
import { applyContactStatuses } from './status-events';

const SALT = '0123456789ab';
const ofContact = { opaque: `bmg1:ptn_1:bc_42_3_17_${SALT}`, contact: '15550100777' };

const status = (name: string, over: Partial<Statuses_Status> = {}, phone_number_id?: string) =>
  aStatus(name, { ...ofContact, ...over }, { phone_number_id: phone_number_id ?? '700' });

async function changesOf(...statuses: Received<Statuses>[]) {
  const asked: Array<{ chunk_id: string; changes: Change[]; guard: unknown }> = [];
  const stateWriter: Pick<StateWriter, 'apply'> = {
    async apply(chunk_id, changes, guard) {
      asked.push({ chunk_id, changes, guard });
      return { moved: [], chunk: undefined, refused: false };
    },
  };
  await applyContactStatuses(stateWriter)(statuses);
  return asked;
}

test('a status changes the contact that its request id names, under the broadcast’s salt', async () => {
  expect(await changesOf(status('sent'), status('delivered'), status('read'))).toEqual([
    {
      chunk_id: '42/3',
      guard: { salt: SALT, owner: { partner_id: 'ptn_1', phone_number_id: '700' } },
      changes: [
        { index: 17, event: 'status_sent' },
        { index: 17, event: 'status_delivered' },
        { index: 17, event: 'status_delivered' },
      ],
    },
  ]);
});

test('statuses that name the same contact of different partners and numbers stay apart', async () => {
  const asked = await changesOf(
    status('sent'),
    status('failed', { opaque: `bmg1:ptn_2:bc_42_3_17_${SALT}` }),
    status('failed', {}, '701'),
  );
  expect(asked.map(({ guard, changes }) => [guard, changes.length])).toEqual([
    [{ salt: SALT, owner: { partner_id: 'ptn_1', phone_number_id: '700' } }, 1],
    [{ salt: SALT, owner: { partner_id: 'ptn_2', phone_number_id: '700' } }, 1],
    [{ salt: SALT, owner: { partner_id: 'ptn_1', phone_number_id: '701' } }, 1],
  ]);
});

test.each([
  ['131026', '131026'],
  [undefined, 'failed'],
])('a failure carries its code: %s', async (error_code, code) => {
  const [asked] = await changesOf(status('failed', { error_code }));
  expect(asked?.changes).toEqual([
    { index: 17, event: 'status_failed', code, example: '1555••••777' },
  ]);
});

test('skips statuses that are not about a message of a broadcast', async () => {
  expect(
    await changesOf(
      status('unheard_of'),
      status('delivered', { opaque: undefined }),
      status('delivered', { opaque: 'bmg1:ptn_1:msg_01' }),
      aStatus('delivered', ofContact, { phone_number_id: undefined }),
    ),
  ).toEqual([]);
});
