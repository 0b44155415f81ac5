// A connect session: one link, one onboarding. The machine is what the store's conditional updates filter
// by; how long a link lives are pure functions of the record and the time (contract, Connect session).
import { defineMachine } from '@bmg/common/state';

export type SessionStatus = 'created' | 'opened' | 'completing' | 'consumed';
export type SessionEvent = 'open' | 'begin' | 'abandon' | 'consume';

export const sessionMachine = defineMachine<SessionStatus, SessionEvent>({
  // The page may be loaded again; while a code is being worked on it stays where it is.
  open: { from: ['created', 'opened'], to: 'opened' },
  begin: { from: ['created', 'opened'], to: 'completing' },
  // The code led nowhere, or whoever worked on it died: another code may come.
  abandon: { from: ['completing'], to: 'opened' },
  consume: { from: ['created', 'opened', 'completing'], to: 'consumed' },
});

/** What the contract promises as expires_in. */
export const OPENS_S = 1_800;
/** An onboarding that was begun in time may be completed this much later. */
export const GRACE_S = 1_800;
/** A link that is over is still recognised for a day, then it is as unknown as any other. */
const REMEMBERED_S = 86_400;

type Timed = { created_at: Date };
type Stated = Timed & { status: SessionStatus };

const after = ({ created_at }: Timed, seconds: number): number =>
  created_at.getTime() + seconds * 1_000;

/** Whether the link's time to be opened has not run out. */
export const isOpen = (session: Timed, now: Date): boolean =>
  now.getTime() < after(session, OPENS_S);

/** Whether an onboarding under the link may still be completed. */
export const isCompletable = (session: Timed, now: Date): boolean =>
  now.getTime() <= after(session, OPENS_S + GRACE_S);

export const purgeAt = (session: Timed): Date =>
  new Date(after(session, OPENS_S + GRACE_S + REMEMBERED_S));

/** The oldest creation time of a session that may still be completed. */
export const completableSince = (now: Date): Date =>
  new Date(now.getTime() - (OPENS_S + GRACE_S) * 1_000);

export type PageOutcome = 'open' | 'expired' | 'consumed' | 'unknown';

/** What the hosted page shows for a link. */
export function pageOutcome(session: Stated | null, now: Date): PageOutcome {
  if (!session) return 'unknown';
  if (session.status === 'consumed') return 'consumed';
  return isOpen(session, now) ? 'open' : 'expired';
}
