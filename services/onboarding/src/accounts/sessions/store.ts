// Sessions of the partner's console: one record per log-in, found by the keyed hash of its token.
import type { Collection, Db } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';

export interface DashboardSession {
  /** Keyed hash of the token. Only the browser's cookie holds the token itself. */
  _id: string;
  partner_id: string;
  /** The partner key that opened it, if it was one: a rotation of the key ends the session. */
  key_hash?: string;
  /** Who signed in, if it was a person. */
  person_id?: string;
  /** Names the session without its token; a session of the previous release has none. */
  session_id?: string;
  created_at: Date;
  /** When the issuer checked who signs in, or null if it did not say. Absent: at the log-in. */
  authenticated_at?: Date | null;
  used_at: Date;
  /** When the TTL index removes the record. */
  purge_at: Date;
}

const LIST_MAX = 50;

const filterOf = (partner_id: string, person_id: string | undefined) => ({
  partner_id,
  ...(person_id !== undefined && { person_id }),
});

export const DASHBOARD_SESSIONS = 'dashboard_sessions';
export const dashboardSessionIndexes: Indexes = {
  [DASHBOARD_SESSIONS]: [
    { key: { partner_id: 1 } },
    { key: { purge_at: 1 }, expireAfterSeconds: 0 },
  ],
};

export function createDashboardSessions(db: Db) {
  const sessions: Collection<DashboardSession> = db.collection(DASHBOARD_SESSIONS);
  return {
    insert: (session: DashboardSession) => sessions.insertOne(session),
    find: (_id: string) => sessions.findOne({ _id }),
    touch: (_id: string, used_at: Date) => sessions.updateOne({ _id }, { $max: { used_at } }),
    remove: (_id: string) => sessions.deleteOne({ _id }),
    /** The sessions of the partner, or of one person, newest first, ended ones included. */
    newestOf: (partner_id: string, person_id?: string) =>
      sessions
        .find(filterOf(partner_id, person_id), { sort: { created_at: -1 }, limit: LIST_MAX })
        .toArray(),
    /** All sessions of the partner, or of one person. */
    removeOf: (partner_id: string, person_id?: string) =>
      sessions.deleteMany(filterOf(partner_id, person_id)),
    /** All sessions of a person but the newest ones. */
    async removeOldest(partner_id: string, person_id: string, kept: number) {
      const oldest = await sessions
        .find({ partner_id, person_id }, { projection: { _id: 1 } })
        .sort({ created_at: -1 })
        .skip(kept)
        .limit(LIST_MAX)
        .toArray();
      if (oldest.length > 0) {
        await sessions.deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
      }
    },
    /** Ends the session with this name; false if there is none. */
    async removeNamed(partner_id: string, session_id: string, person_id?: string) {
      const filter = { ...filterOf(partner_id, person_id), session_id };
      return (await sessions.deleteOne(filter)).deletedCount === 1;
    },
  };
}
