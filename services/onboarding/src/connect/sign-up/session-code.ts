// Ties a connect session to one sign-up code: a link completes one onboarding.
import { ApiError } from '@bmg/common/errors';
import type { CodeExchanges } from './store/code-exchanges';
import type { Session, Sessions } from './store/connect-sessions';
import { isCompletable } from './connect-session';

export interface SessionCodeDependencies {
  sessions: Sessions;
  exchanges: CodeExchanges;
  now: () => Date;
}

/** Null without a `session_id`: a self-hosted popup completes under the partner key. */
export async function findCompletableSession(
  { sessions, now }: SessionCodeDependencies,
  { partner_id, session_id }: { partner_id: string; session_id?: string | undefined },
): Promise<Session | null> {
  if (session_id === undefined) return null;
  const session = await sessions.find(partner_id, session_id);
  if (!session || !isCompletable(session, now())) throw invalidLink();
  return session;
}

export const invalidLink = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'the connect link is invalid or has expired: create a new one');

/** Throws UNAUTHORIZED if another code holds the session. Safe to repeat for the same code. */
export async function tieSession(
  { sessions, exchanges, now }: SessionCodeDependencies,
  session: Session,
  exchange_id: string,
): Promise<void> {
  if (await sessions.begin(session, exchange_id)) return;
  const current = await sessions.find(session.partner_id, session._id);
  if (current?.exchange_id === exchange_id) return;
  if (current?.status === 'completing' && current.exchange_id !== null) {
    // An expired lease means that the worker of the other code crashed or failed to free the
    // session.
    const other = await exchanges.find(current.exchange_id);
    const idle = !other || (other.status !== 'done' && other.lease_until <= now());
    if (idle) {
      await sessions.abandon(session, current.exchange_id);
      if (await sessions.begin(session, exchange_id)) return;
    }
  }
  throw new ApiError('UNAUTHORIZED', 'the connect link has already been used: create a new one');
}
