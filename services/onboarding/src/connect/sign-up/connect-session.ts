// The rules of a connect session (one link, one onboarding): its state machine, by which the store
// filters its conditional updates, and its lifetime (contract 10.3).
import { defineMachine } from '@bmg/common/state';

export type SessionStatus = 'created' | 'opened' | 'completing' | 'consumed';
export type SessionEvent = 'open' | 'begin' | 'abandon' | 'consume';

export const sessionMachine = defineMachine<SessionStatus, SessionEvent>({
  // The page may be loaded again. While a code is processed, the session stays `completing`.
  open: { from: ['created', 'opened'], to: 'opened' },
  begin: { from: ['created', 'opened'], to: 'completing' },
  // The code failed, or its worker crashed: another code may follow.
  abandon: { from: ['completing'], to: 'opened' },
  consume: { from: ['created', 'opened', 'completing'], to: 'consumed' },
});

/** The `expires_in` of the contract. */
export const OPENS_S = 1_800;
/** An onboarding that started in time may be completed this much later. */
export const GRACE_S = 1_800;
/** How long the page distinguishes an expired or used link from an unknown one. */
const RECOGNISED_S = 86_400;
/** After its creation. */
export const KEPT_S = OPENS_S + GRACE_S + RECOGNISED_S;

type Timed = { created_at: Date };
type Stated = Timed & { status: SessionStatus };

const after = ({ created_at }: Timed, seconds: number): number =>
  created_at.getTime() + seconds * 1_000;

/** Returns true while the page may be opened. */
export const isOpen = (session: Timed, now: Date): boolean =>
  now.getTime() < after(session, OPENS_S);

/** Returns true while an onboarding under the link may be completed. */
export const isCompletable = (session: Timed, now: Date): boolean =>
  now.getTime() <= after(session, OPENS_S + GRACE_S);

export const purgeAt = (session: Timed): Date => new Date(after(session, KEPT_S));

/** The oldest creation time of a session that may still be completed. */
export const completableSince = (now: Date): Date =>
  new Date(now.getTime() - (OPENS_S + GRACE_S) * 1_000);

type PageOutcome = 'open' | 'expired' | 'consumed' | 'unknown';

/** The state that the hosted page shows for a link. */
export function pageOutcome(session: Stated | null, now: Date): PageOutcome {
  if (!session) return 'unknown';
  if (session.status === 'consumed') return 'consumed';
  return isOpen(session, now) ? 'open' : 'expired';
}
