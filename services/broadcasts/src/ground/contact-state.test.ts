import fc from 'fast-check';
import {
  allWaiting,
  applyChanges,
  contactMachine,
  indicesOf,
  OUTCOME_UNKNOWN,
  stateAt,
  tallyOf,
  type Change,
  type ContactEvent,
  type ContactState,
} from './contact-state';

const STATES: ContactState[] = ['waiting', 'in_flight', 'sent', 'delivered', 'failed', 'unknown'];

const MOVES: Record<ContactEvent, [from: ContactState[], to: ContactState]> = {
  mark: [['waiting'], 'in_flight'],
  release: [['in_flight'], 'waiting'],
  sent: [['waiting', 'in_flight', 'unknown'], 'sent'],
  refuse: [['in_flight', 'unknown'], 'failed'],
  expire: [['in_flight'], 'unknown'],
  drop: [['waiting'], 'failed'],
  status_sent: [['waiting', 'in_flight', 'unknown'], 'sent'],
  status_delivered: [['waiting', 'in_flight', 'unknown', 'sent'], 'delivered'],
  status_failed: [['waiting', 'in_flight', 'unknown', 'sent', 'delivered'], 'failed'],
};

test.each(contactMachine.events)('the event %s moves a contact of some states only', (event) => {
  const [from, to] = MOVES[event];
  expect(contactMachine.to(event)).toBe(to);
  expect(STATES.filter((state) => contactMachine.allows(state, event))).toEqual(
    STATES.filter((state) => from.includes(state)),
  );
});

const waitingChunk = (count: number) => ({ states: allWaiting(count), failures: [] });

const changes = (events: readonly ContactEvent[], count: number) =>
  fc.array(
    fc.record<Change>({
      index: fc.nat(count - 1),
      event: fc.constantFrom(...events),
      code: fc.constantFrom('131026', '131049'),
    }),
    { maxLength: 120 },
  );

const COUNT = 8;
const STATUS_EVENTS: ContactEvent[] = ['status_sent', 'status_delivered', 'status_failed'];

test('the counters add up to all contacts, and the failures to the failed ones', () => {
  fc.assert(
    fc.property(changes(contactMachine.events, COUNT), (list) => {
      const { states, failures } = applyChanges(waitingChunk(COUNT), list);
      const { waiting, in_flight, sent, delivered, failed } = tallyOf(states);
      expect(waiting + in_flight + sent + failed).toBe(COUNT);
      expect(delivered).toBeLessThanOrEqual(sent);
      expect(failures.reduce((sum, { count }) => sum + count, 0)).toBe(failed);
      const unknown = failures.find(({ code }) => code === OUTCOME_UNKNOWN)?.count ?? 0;
      expect(unknown).toBe(indicesOf(states, 'unknown').length);
    }),
  );
});

test('repeated and reordered status events count once', () => {
  const withOrder = changes(STATUS_EVENTS, COUNT).chain((list) =>
    fc.tuple(
      fc.constant(list),
      fc.shuffledSubarray([...list, ...list], {
        minLength: 2 * list.length,
        maxLength: 2 * list.length,
      }),
    ),
  );
  fc.assert(
    fc.property(withOrder, ([list, shuffled]) => {
      const once = applyChanges(waitingChunk(COUNT), list);
      const again = applyChanges(waitingChunk(COUNT), shuffled);
      expect(again.states).toBe(once.states);
    }),
  );
});

test('the result does not depend on how changes are split into writes', () => {
  fc.assert(
    fc.property(changes(contactMachine.events, COUNT), fc.nat(120), (list, cut) => {
      const first = applyChanges(waitingChunk(COUNT), list.slice(0, cut));
      const second = applyChanges(first, list.slice(cut));
      const whole = applyChanges(waitingChunk(COUNT), list);
      expect(second.states).toBe(whole.states);
      expect([...first.moved, ...second.moved]).toEqual(whole.moved);
      expect(tallyOf(second.states)).toEqual(tallyOf(whole.states));
    }),
  );
});

test('a marked contact cannot be marked again before it is released', () => {
  const list = changes(
    contactMachine.events.filter((event) => event !== 'release'),
    COUNT,
  );
  fc.assert(
    fc.property(list, (events) => {
      const { moved } = applyChanges(waitingChunk(COUNT), events);
      const marks = events.filter(({ event }, at) => event === 'mark' && moved[at]);
      expect(new Set(marks.map(({ index }) => index)).size).toBe(marks.length);
    }),
  );
});

test('a late status removes a contact in doubt from the failures', () => {
  const expired = applyChanges(waitingChunk(2), [
    { index: 0, event: 'mark' },
    { index: 0, event: 'expire', example: '1555••••001' },
  ]);
  expect(expired.failures).toEqual([{ code: OUTCOME_UNKNOWN, count: 1, example: '1555••••001' }]);
  const corrected = applyChanges(expired, [{ index: 0, event: 'status_delivered' }]);
  expect(corrected.failures).toEqual([]);
  expect(stateAt(corrected.states, 0)).toBe('delivered');
});

test('beyond a limit, further codes are counted together', () => {
  const list = Array.from({ length: 80 }, (_, index): Change[] => [
    { index, event: 'mark' },
    { index, event: 'refuse', code: `9${index}` },
  ]).flat();
  const { failures } = applyChanges(waitingChunk(80), list);
  expect(failures.length).toBeLessThanOrEqual(51);
  expect(failures.reduce((sum, { count }) => sum + count, 0)).toBe(80);
});

test('an unknown index has no effect', () => {
  const { states, moved } = applyChanges(waitingChunk(2), [{ index: 7, event: 'mark' }]);
  expect(states).toBe(allWaiting(2));
  expect(moved).toEqual([false]);
});

test('lists the contacts in flight as claimed, and no others', () => {
  const marked = applyChanges({ states: 'www', failures: [] }, [
    { index: 0, event: 'mark' },
    { index: 1, event: 'mark' },
  ]);
  expect(marked).toMatchObject({ states: 'ffw', claimed: [0, 1] });
  const settled = applyChanges(marked, [
    { index: 0, event: 'sent' },
    { index: 1, event: 'release' },
  ]);
  expect(settled).toMatchObject({ states: 'sww', claimed: [] });
});
