import type { Event } from '@bmg/proto/stream';
import type { Change } from '../ground/contact-state';
import type { StateWriter } from './state-writer';
import { applyContactStatuses } from './status-events';
import { statusesOfEvents } from '../../../../test/testkit/state-of-events';

const SALT = '0123456789ab';

const event = (name: string, overrides: Partial<Event> = {}) => ({
  message: {
    occurrence_id: 'occ_1',
    event: name,
    internal: false,
    waba_id: '800',
    phone_number_id: '700',
    contact: '15550100777',
    timestamp: 1,
    data: '{}',
    received_at_ms: 1,
    partner_ids: ['ptn_1'],
    opaque: `bmg1:ptn_1:bc_42_3_17_${SALT}`,
    ...overrides,
  },
  key: '',
  span: undefined,
  partition: 0,
  offset: '0',
});

async function changesOf(...events: Array<ReturnType<typeof event>>) {
  const asked: Array<{ chunk_id: string; changes: Change[]; guard: unknown }> = [];
  const stateWriter: Pick<StateWriter, 'apply'> = {
    async apply(chunk_id, changes, guard) {
      asked.push({ chunk_id, changes, guard });
      return { moved: [], chunk: undefined, refused: false };
    },
  };
  await applyContactStatuses(stateWriter)(statusesOfEvents(events));
  return asked;
}

test('a status changes the contact that its request id names, under the broadcast’s salt', async () => {
  expect(
    await changesOf(event('message.sent'), event('message.delivered'), event('message.read')),
  ).toEqual([
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
  const forged = `bmg1:ptn_2:bc_42_3_17_${SALT}`;
  const asked = await changesOf(
    event('message.sent'),
    event('message.failed', { partner_ids: ['ptn_1', 'ptn_2'], opaque: forged }),
    event('message.failed', { phone_number_id: '701' }),
  );
  expect(asked.map(({ guard, changes }) => [guard, changes.length])).toEqual([
    [{ salt: SALT, owner: { partner_id: 'ptn_1', phone_number_id: '700' } }, 1],
    [{ salt: SALT, owner: { partner_id: 'ptn_2', phone_number_id: '700' } }, 1],
    [{ salt: SALT, owner: { partner_id: 'ptn_1', phone_number_id: '701' } }, 1],
  ]);
});

test.each([
  ['{"errors":[{"code":131026,"title":"Undeliverable"}]}', '131026'],
  ['{"errors":null}', 'failed'],
  ['{"errors":[]}', 'failed'],
])('a failure carries its code: %s', async (data, code) => {
  const [asked] = await changesOf(event('message.failed', { data }));
  expect(asked?.changes).toEqual([
    { index: 17, event: 'status_failed', code, example: '1555••••777' },
  ]);
});

test('skips events that are not about a message of a broadcast', async () => {
  expect(
    await changesOf(
      event('message.received'),
      event('message.delivered', { opaque: undefined }),
      event('message.delivered', { opaque: 'bmg1:ptn_1:msg_01' }),
      event('message.delivered', { phone_number_id: undefined }),
      event('template.status_updated'),
    ),
  ).toEqual([]);
});
