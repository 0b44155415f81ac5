// How long a session of the partner's console lives, and what the gateway learns of it. Pure
// functions.
import { ROLE_SCOPES, sessionName } from '@bmg/common/people';
import { Session } from '@bmg/proto/settings';
import { messageOf } from '../../ground/message';
import type { DashboardSession } from './store';
import type { Partner } from '../../ground/partners';
import type { Person } from '../../ground/people';

type TimedSession = Pick<DashboardSession, 'created_at' | 'used_at' | 'authenticated_at'>;

const MINUTE_MS = 60_000;
const SESSION_LIFE_MS = 8 * 60 * MINUTE_MS;
/** A session ends after this long without a use: a request that the user caused. */
export const IDLE_MS = 30 * MINUTE_MS;
/** A use is stored at most this often, so that a page with several requests writes once. */
const TOUCH_EVERY_MS = MINUTE_MS;

export const expiresAt = ({ created_at }: Pick<TimedSession, 'created_at'>): Date =>
  new Date(created_at.getTime() + SESSION_LIFE_MS);

/** The record of a log-in: with the partner key of this hash, or as this person. */
export const newSession = (
  opened: Pick<DashboardSession, 'partner_id' | 'key_hash' | 'person_id' | 'authenticated_at'>,
  token_hash: string,
  at: Date,
): DashboardSession => ({
  _id: token_hash,
  ...opened,
  session_id: sessionName(token_hash),
  created_at: at,
  used_at: at,
  purge_at: expiresAt({ created_at: at }),
});

export const isAlive = (session: TimedSession, now: Date): boolean =>
  now < expiresAt(session) && now.getTime() - session.used_at.getTime() < IDLE_MS;

export const isToBeTouched = ({ used_at }: Pick<TimedSession, 'used_at'>, now: Date): boolean =>
  now.getTime() - used_at.getTime() >= TOUCH_EVERY_MS;

/** Long ago for an issuer that did not say it. */
const authenticatedAt = ({ created_at, authenticated_at }: TimedSession): Date =>
  authenticated_at === undefined ? created_at : (authenticated_at ?? new Date(0));

/** A session that no person opened has all rights of the partner. */
export const sessionMessage = (
  partner: Partner,
  session: TimedSession,
  person: Person | undefined,
): Session =>
  messageOf(Session, {
    ...partner,
    partner_id: partner._id,
    partner_name: partner.name,
    expires_at: expiresAt(session),
    authenticated_at: authenticatedAt(session),
    person: person && { ...person, scopes: [...ROLE_SCOPES[person.role]] },
  });
