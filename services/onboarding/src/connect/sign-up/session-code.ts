// Ties a connect session to one sign-up code, because a link completes one onboarding, and leases
// the code: a double click waits for the first request and gets its answer.
import { ApiError } from '@bmg/common/errors';
import type { Session } from './store/connect-sessions';
import { isCompletable } from './connect-session';
import type { Dependencies } from '../../dependencies';
import type { Call } from '@bmg/common/rpc';
import { keepRenewing, newHolder, waitToTake, type Lease } from '../../ground/lease';
import type { CodeExchange } from './store/code-exchanges';

/** Null without a `session_id`: a self-hosted popup completes under the partner key. */
export async function findCompletableSession(
  { sessions, now }: Dependencies,
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
  { sessions, exchanges, now }: Dependencies,
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

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_500;
/** Time reserved for the answer once the wait is over. */
const MARGIN_MS = 250;

interface HeldCode {
  exchange: CodeExchange;
  /** Ends the lease, so that a repeated request need not wait for it to expire. */
  release(): Promise<void>;
}

/**
 * Waits until the code's exchange is ours or finished (`done` or `failed`), and returns it. Throws
 * a retryable SERVICE_UNAVAILABLE if another worker still holds the code shortly before the call's
 * deadline.
 */
export function holdCode(
  { exchanges, now }: Dependencies,
  id: { _id: string; partner_id: string },
  call: Call,
): Promise<HeldCode> {
  const holder = newHolder();
  const lease = (): Lease => ({ holder, until: new Date(now().getTime() + LEASE_MS) });
  const take = async (): Promise<HeldCode | undefined> => {
    const { exchange, held } = await exchanges.claim(id, lease(), now());
    if (held) return { exchange, release: keepRenewing(exchanges, id._id, lease, RENEW_EVERY_MS) };
    const is_finished = exchange.status === 'done' || exchange.status === 'failed';
    return is_finished ? { exchange, release: async () => undefined } : undefined;
  };
  const refuse = (): ApiError =>
    new ApiError('SERVICE_UNAVAILABLE', 'this code is already being processed: try again', {
      retry_after_s: 1,
    });
  return waitToTake(take, call, { margin_ms: MARGIN_MS, refuse });
}
