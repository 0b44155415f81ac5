import {
  completableSince,
  GRACE_S,
  isCompletable,
  isOpen,
  OPENS_S,
  pageOutcome,
  purgeAt,
  sessionMachine,
  type SessionEvent,
  type SessionStatus,
} from './connect-session';

const created_at = new Date('2026-09-01T10:00:00.000Z');
const at = (seconds: number): Date => new Date(created_at.getTime() + seconds * 1_000);

const STATUSES: SessionStatus[] = ['created', 'opened', 'completing', 'consumed'];

/** Every pair that is not listed is refused. */
const ALLOWED: Record<SessionEvent, Partial<Record<SessionStatus, SessionStatus>>> = {
  open: { created: 'opened', opened: 'opened' },
  begin: { created: 'completing', opened: 'completing' },
  abandon: { completing: 'opened' },
  consume: { created: 'consumed', opened: 'consumed', completing: 'consumed' },
};

const pairs = sessionMachine.events.flatMap((event) =>
  STATUSES.map((status) => [event, status, ALLOWED[event][status]] as const),
);

test.each(pairs)('the event %s of a session that is %s leads to %s', (event, status, target) => {
  expect(sessionMachine.allows(status, event)).toBe(target !== undefined);
  if (target) expect(sessionMachine.to(event)).toBe(target);
});

describe('the times of a session', () => {
  it('opens for 1800 seconds', () => {
    expect(OPENS_S).toBe(1_800);
    expect(isOpen({ created_at }, at(0))).toBe(true);
    expect(isOpen({ created_at }, at(OPENS_S - 0.001))).toBe(true);
    expect(isOpen({ created_at }, at(OPENS_S))).toBe(false);
  });

  it('completes for 30 minutes more', () => {
    expect(GRACE_S).toBe(1_800);
    expect(isCompletable({ created_at }, at(OPENS_S + 1))).toBe(true);
    expect(isCompletable({ created_at }, at(OPENS_S + GRACE_S))).toBe(true);
    expect(isCompletable({ created_at }, at(OPENS_S + GRACE_S + 0.001))).toBe(false);
  });

  it('is recognised for longer than it can be completed', () => {
    expect(purgeAt({ created_at }).getTime()).toBeGreaterThan(at(OPENS_S + GRACE_S).getTime());
  });

  it('names the oldest creation time that can still be completed', () => {
    const now = at(5_000);
    const oldest = completableSince(now);
    expect(isCompletable({ created_at: oldest }, now)).toBe(true);
    expect(isCompletable({ created_at: new Date(oldest.getTime() - 1) }, now)).toBe(false);
  });
});

test.each([
  ['created', 10, 'open'],
  ['created', OPENS_S, 'expired'],
  ['opened', 10, 'open'],
  ['opened', OPENS_S, 'expired'],
  ['completing', 10, 'open'],
  ['completing', OPENS_S, 'expired'],
  ['consumed', 10, 'consumed'],
  ['consumed', 9_999, 'consumed'],
] as const)('the page of a link that is %s shows after %d s that it is %s', (status, s, shown) => {
  expect(pageOutcome({ created_at, status }, at(s))).toBe(shown);
});

test('the page of an unknown link shows that', () => {
  expect(pageOutcome(null, at(0))).toBe('unknown');
});
