import { aBroadcast } from '../../test/builders';
import { approvalMessage, checkApprover, neededApproval } from './approval';
import { APPROVAL_MAX_MS } from './broadcast-machine';
import type { Approval } from './types';

const AT = new Date('2026-11-21T10:00:00Z');
const approval = (given: Partial<Approval> = {}): Approval => ({
  created_by: 'per_1',
  approved_by: null,
  approved_at: null,
  ...given,
});

test.each([
  [undefined, 10_000, false],
  [10, 9, false],
  [10, 10, false],
  [10, 11, true],
])(
  'with approval above %s, a broadcast to %i contacts needs one: %s',
  (above, contacts, needed) => {
    const found = neededApproval(contacts, { approval_above: above, caller_person_id: 'per_1' });
    expect(found).toEqual(needed ? approval() : undefined);
  },
);

test('a broadcast of a key has no creator', () => {
  expect(neededApproval(2, { approval_above: 1 })).toEqual(approval({ created_by: null }));
});

test.each([
  ['the creator', 'per_1', 'per_1', 'SECOND_PERSON_REQUIRED'],
  ['another person', 'per_1', 'per_2', undefined],
  ['any person, of a broadcast of a key', null, 'per_1', undefined],
  ['a key', null, undefined, 'PERSON_REQUIRED'],
])('%s', (_who, created_by, person_id, code) => {
  const broadcast = aBroadcast({ approval: approval({ created_by }) });
  const check = expect(() => checkApprover(broadcast, person_id));
  if (code === undefined) check.not.toThrow();
  else check.toThrow(expect.objectContaining({ code }));
});

test('shows the approval only of a broadcast that needs one, with its end while it waits', () => {
  const shown = (given: Parameters<typeof aBroadcast>[0]) =>
    approvalMessage(aBroadcast({ created_at: AT, ...given }));
  expect(shown({ status: 'pending' })).toBeUndefined();
  expect(shown({ status: 'awaiting_approval', approval: approval() })).toEqual({
    state: 'waiting',
    created_by: 'per_1',
    ends_at: new Date(AT.getTime() + APPROVAL_MAX_MS),
  });
  expect(shown({ status: 'cancelled', approval: approval({ created_by: null }) })).toEqual({
    state: 'ended',
  });
  const approved = approval({ approved_by: 'per_2', approved_at: AT });
  for (const status of ['pending', 'scheduled', 'processing', 'cancelled'] as const) {
    expect(shown({ status, approval: approved })).toEqual({
      state: 'approved',
      created_by: 'per_1',
      approved_by: 'per_2',
      approved_at: AT,
    });
  }
});
