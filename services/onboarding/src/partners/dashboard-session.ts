// How long a session of the partner's console lives. Pure functions of the record and the time.

export interface TimedSession {
  created_at: Date;
  used_at: Date;
}

const MINUTE_MS = 60_000;
export const SESSION_LIFE_MS = 8 * 60 * MINUTE_MS;
/** A session ends after this long without a use: a request that the user caused. */
export const IDLE_MS = 30 * MINUTE_MS;
/** A use is stored at most this often, so that a page with several requests writes once. */
const TOUCH_EVERY_MS = MINUTE_MS;

export const expiresAt = ({ created_at }: Pick<TimedSession, 'created_at'>): Date =>
  new Date(created_at.getTime() + SESSION_LIFE_MS);

export const isAlive = (session: TimedSession, now: Date): boolean =>
  now < expiresAt(session) && now.getTime() - session.used_at.getTime() < IDLE_MS;

export const isToBeTouched = ({ used_at }: Pick<TimedSession, 'used_at'>, now: Date): boolean =>
  now.getTime() - used_at.getTime() >= TOUCH_EVERY_MS;
