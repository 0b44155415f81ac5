import { broadcastMachine, type BroadcastEvent, type BroadcastStatus } from './broadcast-machine';

const STATES: BroadcastStatus[] = [
  'draft',
  'pending',
  'scheduled',
  'processing',
  'paused',
  'completed',
  'cancelled',
];

/** Everything else is refused (contract 9.1, 9.6). */
const ALLOWED: Record<BroadcastEvent, Partial<Record<BroadcastStatus, BroadcastStatus>>> = {
  queue: { draft: 'pending' },
  schedule: { draft: 'scheduled' },
  fallDue: { scheduled: 'pending' },
  start: { pending: 'processing' },
  pause: { processing: 'paused' },
  resume: { paused: 'processing' },
  complete: { processing: 'completed', paused: 'completed' },
  cancel: { pending: 'cancelled', scheduled: 'cancelled', paused: 'cancelled' },
};

describe.each(STATES)('a broadcast that is %s', (state) => {
  test.each(broadcastMachine.events)('and the event %s', (event) => {
    const to = ALLOWED[event][state];
    expect(broadcastMachine.allows(state, event)).toBe(to !== undefined);
    if (to !== undefined) expect(broadcastMachine.to(event)).toBe(to);
  });
});

test('the table above has every event of the machine', () => {
  expect([...broadcastMachine.events].sort()).toEqual(Object.keys(ALLOWED).sort());
});
