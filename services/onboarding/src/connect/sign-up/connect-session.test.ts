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

describe('the session machine', () => {
  for (const event of sessionMachine.events) {
    for (const status of STATUSES) {
      const target = ALLOWED[event][status];
      it(`${target ? 'allows' : 'refuses'} ${event} when ${status}`, () => {
        expect(sessionMachine.allows(status, event)).toBe(target !== undefined);
        if (target) expect(sessionMachine.to(event)).toBe(target);
      });
    }
  }
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

describe('state that the page shows', () => {
  it('is the page while the link is open, in every unfinished state', () => {
    for (const status of ['created', 'opened', 'completing'] as const) {
      expect(pageOutcome({ created_at, status }, at(10))).toBe('open');
      expect(pageOutcome({ created_at, status }, at(OPENS_S))).toBe('expired');
    }
  });

  it('is the used link once it was consumed, expired or not', () => {
    expect(pageOutcome({ created_at, status: 'consumed' }, at(10))).toBe('consumed');
    expect(pageOutcome({ created_at, status: 'consumed' }, at(9_999))).toBe('consumed');
  });

  it('is nothing for an unknown link', () => {
    expect(pageOutcome(null, at(0))).toBe('unknown');
  });
});
